"""What core passes to the pages module, and the type of the slot `link_pages`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest, HttpResponse

from authservice.kernel.errors import Fault
from authservice.kernel.modules import Slot
from authservice.kernel.secret import Secret


@dataclass(frozen=True, kw_only=True)
class FormPage:
    """A page with a form that posts to a route of the API.

    `route` is the name of the route in the URLconf. `hidden` are the values of the link, which the
    form sends back. `link_details` are values that the page may show, such as the address of an
    invitation. `typed` are values that the user typed before, never a secret. `fault` is the error
    after which the form is shown again.
    """

    route: str
    hidden: Mapping[str, Secret]
    link_details: Mapping[str, Any] = field(default_factory=dict)
    typed: Mapping[str, str] = field(default_factory=dict)
    fault: Fault | None = None


@dataclass(frozen=True, kw_only=True)
class ResultPage:
    """A page that replaces a JSON response: its status, and the `code` of an error ("" if there is
    none).

    `outcome` is the field `status` of the response, if it has one. `keeps_login` says whether a
    login stays in the browser. `temp_token` is that of a challenge of the type `challenge`, and
    `access_token` that of a login. `challenge_data` are the other values of the challenge, such as
    the options of a passkey.
    """

    route: str
    status: int
    code: str = ""
    message: str = ""
    outcome: str = ""
    keeps_login: bool = False
    challenge: str = ""
    temp_token: Secret = field(default_factory=lambda: Secret(""))
    access_token: Secret = field(default_factory=lambda: Secret(""))
    challenge_data: Mapping[str, Any] = field(default_factory=dict)


class LinkPages(Slot):
    """Slot `link_pages`: shows browsers pages instead of JSON at the addresses of mailed links."""

    slot = "link_pages"

    def keeps_logins(self) -> bool:
        """Whether a page keeps a login without token cookies, in Django's session."""
        return False

    def brand(self) -> Mapping[str, Any]:
        """The variable `brand` in the templates of all pages."""
        return {}

    def form(self, page: FormPage) -> HttpResponse:
        """The page with the form of a link."""
        raise NotImplementedError

    def result(self, page: ResultPage, request: HttpRequest) -> HttpResponse:
        """The page that replaces a JSON response. It keeps the login of an access token, if there
        is one."""
        raise NotImplementedError
