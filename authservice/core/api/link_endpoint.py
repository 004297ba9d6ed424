"""Routes that mailed links open in a browser.

Without the pages module they answer in JSON. With it, a browser gets a page instead: a form that
posts to the same route, so that the rules, the limits and the audit log are those of the API, and a
result in words.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, ClassVar, Literal, TypedDict

from django.http import HttpRequest, HttpResponse

from authservice.core.api.callers import accepts_cookies, cookie_names, ignore_cookie
from authservice.core.api.endpoint import Endpoint
from authservice.core.errors import InvalidPassword, TwoFactorRefused
from authservice.core.sessions import bearer, revocation
from authservice.kernel import errors
from authservice.kernel.http import fields, incoming, pages
from authservice.kernel.http.envelope import answer
from authservice.kernel.link_pages import FormPage, LinkPages, ResultPage
from authservice.kernel.modules import plugs
from authservice.kernel.secret import Secret

# Errors after which the user can send the form again.
_AGAIN = (
    InvalidPassword,
    errors.ServiceUnavailable,
    errors.TooManyAttempts,
    errors.TooManyRequests,
    TwoFactorRefused,
    errors.ValidationFailed,
)
_LONGEST = 512  # characters of a value of a link
_KEPT_HEADERS = ("Retry-After", "Allow")


class ToConfirm(TypedDict):
    """The request changed nothing. Send a POST request to make the change."""

    status: Literal["confirm"]


class LinkEndpoint(Endpoint):
    """A route whose JSON becomes a page for browsers."""

    is_visited = True

    def _respond(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        response = super()._respond(request, **kwargs)
        if not self._is_seen(response):
            return response
        keeps_login = accepts_cookies() or plugs(LinkPages)[-1].keeps_logins()
        result = _read(self.route, response, keeps_login=keeps_login)
        only_in_json = bool(result.access_token or result.challenge) and not keeps_login
        if only_in_json and not self._drops_tokens(result.access_token):
            return response
        return self._page(result, response)

    def refuse(self, fault: errors.Fault) -> HttpResponse:
        response = super().refuse(fault)
        if not self._is_seen(response):
            return response
        page = ResultPage(
            route=self.route, status=fault.status, code=fault.code, message=fault.text
        )
        return self._page(page, response)

    def _page(self, result: ResultPage, response: HttpResponse) -> HttpResponse:
        """The page instead of this response, with its cookies."""
        link_pages = plugs(LinkPages)[-1]
        page = link_pages.result(result, self.request)
        # If Django's session keeps the login, token cookies would outlive the browser.
        dropped = cookie_names() if link_pages.keeps_logins() else set()
        for name, cookie in response.cookies.items():
            if name not in dropped or not cookie.value:  # a removed cookie has no value
                page.cookies[name] = cookie
        for name in _KEPT_HEADERS:
            if name in response.headers:
                page.headers[name] = response.headers[name]
        return page

    def _is_seen(self, response: HttpResponse) -> bool:
        """Whether a browser shows this response to a person as JSON."""
        if not plugs(LinkPages):
            return False
        opened = self.request.method == "GET" or self._is_form
        as_json = response.headers.get("Content-Type") == "application/json"
        return as_json and opened and self.shown_to_people and not self.is_head

    @property
    def _is_form(self) -> bool:
        return self.request.method == "POST" and self.request.content_type == incoming.FORM

    def _drops_tokens(self, access_token: Secret) -> bool:
        """Give up tokens that the browser does not keep, so that a page may replace the JSON;
        returns whether it did. Not here: the JSON is the only place where the user finds them."""
        return False


class FormEndpoint(LinkEndpoint):
    """A route that has a form in the pages module. `hidden` are the fields of its link."""

    hidden: ClassVar[tuple[str, ...]] = ("token",)
    # Fields whose values the form shows again; never secrets.
    typed: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def actions(cls) -> dict[str, str]:
        actions = super().actions()
        if not plugs(LinkPages):
            actions.pop("get", None)  # without the pages module there is no form to show
        return actions

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if plugs(LinkPages) and self._is_form:
            # The token of the link is the proof of a form, and `_act` does nothing for forms of
            # other sites. Cookies are no proof then: the form has no CSRF token that belongs to
            # them. Of a form of this site, `signed_in_user` says whose browser sent it.
            self.takes_form = self.guard_exempt = True
            ignore_cookie(request)
        return super().dispatch(request, *args, **kwargs)

    def link_details(self, hidden: Mapping[str, Secret]) -> Mapping[str, Any]:
        """What the page of this link may show. Raises a `Fault` if the link does not work."""
        return {}

    def show_form(self, query: Mapping[str, Any]) -> HttpResponse:
        """The page of the link, or JSON for a program."""
        if self.is_head:
            return answer()
        queried = {name: query.get(name, "") for name in self.hidden}
        hidden = {
            name: value if isinstance(value, Secret) else Secret(value)
            for name, value in queried.items()
        }
        details = self.link_details(hidden)
        if not self.shown_to_people:
            status: ToConfirm = {"status": "confirm"}
            return answer(status)
        return self._form(hidden, details)

    def _respond(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        try:
            return super()._respond(request, **kwargs)
        except _AGAIN as fault:
            hidden = self._hidden()
            # The first of `hidden` is the token: without it there is no link to show a form for.
            if not (self.takes_form and self.shown_to_people and hidden[self.hidden[0]]):
                raise
            return self._form(hidden, self.link_details(hidden), fault)

    def _act(
        self, request: HttpRequest, action: Callable[..., HttpResponse], /, **kwargs: Any
    ) -> HttpResponse:
        if self.takes_form and pages.posted_elsewhere(request):
            self.body = incoming.read_form(request)
            hidden = self._hidden()
            return self._form(hidden, self.link_details(hidden))
        return super()._act(request, action, **kwargs)

    def _hidden(self) -> dict[str, Secret]:
        for name in self.hidden:
            # The values were refused, or not read yet: they may be of any length.
            fields.require(name, self._sent(name), _LONGEST)
        return {name: Secret(self._sent(name)) for name in self.hidden}

    def _sent(self, name: str) -> str:
        # The body has the new password, so it is never in a local variable.
        return str(getattr(self, "body", {}).get(name, ""))

    def _form(
        self,
        hidden: Mapping[str, Secret],
        details: Mapping[str, Any],
        fault: errors.Fault | None = None,
    ) -> HttpResponse:
        typed = {name: self._sent(name) for name in self.typed}
        page = FormPage(
            route=self.route, hidden=hidden, link_details=details, typed=typed, fault=fault
        )
        return plugs(LinkPages)[-1].form(page)

    def _drops_tokens(self, access_token: Secret) -> bool:
        """End the session, because a page cannot pass its tokens to the client."""
        if access_token:
            with suppress(errors.InvalidToken):  # it has ended already
                caller = bearer.identify(access_token)
                revocation.log_out(caller.person, caller.session, self.client)
        return True


def _read(route: str, response: HttpResponse, *, keeps_login: bool) -> ResultPage:
    """The page for a JSON response."""
    data = json.loads(response.content)["data"]
    data = data if isinstance(data, dict) else {}
    first: dict[str, Any] = next(iter(data.get("challenges", ())), {})
    challenge = dict(first.get("data", {}))
    return ResultPage(
        route=route,
        status=response.status_code,
        message=data.get("message", ""),
        outcome=data.get("status", ""),
        keeps_login=keeps_login,
        challenge=first.get("type", ""),
        temp_token=Secret(challenge.pop("temp_token", "")),
        access_token=Secret(data.get("access_token", "")),
        challenge_data=challenge,
    )
