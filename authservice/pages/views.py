"""Fills the slot `link_pages`: the form of a link, and the result of a route in words.

The templates are below `templates/authservice/pages`. A project may replace each of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from authservice.core.api import django_session
from authservice.core.credentials import passwords
from authservice.kernel.errors import Fault
from authservice.kernel.http import pages
from authservice.kernel.link_pages import FormPage, LinkPages, ResultPage
from authservice.kernel.sections import frontend
from authservice.pages import contrast, login_pages, texts, visitor
from authservice.pages.conf import conf

_SECOND_FACTOR = "2fa-verify-login"
_TEMPLATES = {
    "reset-password": "authservice/pages/reset_password.html",
    "invitation-accept": "authservice/pages/accept_invitation.html",
    "org-invitation-accept": "authservice/pages/accept_invitation.html",
    _SECOND_FACTOR: "authservice/pages/second_factor.html",
}
_RESULT = "authservice/pages/result.html"
_WRONG = 400
_LINKED = "linked"


def keeps_logins() -> bool:
    """Whether the project has Django's sessions, in which the pages keep logins."""
    return any(path.endswith("SessionMiddleware") for path in settings.MIDDLEWARE)


class _Pages(LinkPages):
    def keeps_logins(self) -> bool:
        return keeps_logins()

    def brand(self) -> Mapping[str, Any]:
        return {
            "name": conf.name,
            "logo_url": conf.logo_url,
            "color": conf.color,
            "text_on_color": contrast.text_on(conf.color),
            "color_dark": conf.color_dark,
            "font": conf.font,
            "radius": conf.radius,
            "legal_links": conf.legal_links,
            "text_on_color_dark": contrast.text_on(conf.color_dark),
        }

    def form(self, page: FormPage) -> HttpResponse:
        context = {
            # Secrets: a template writes one as `token.reveal`, so that none is in an error report.
            **page.hidden,
            **page.known,
            "typed": page.typed,
            "errors": _errors(page.fault),
            "password_rules": passwords.rules(),
            "action": reverse(f"authservice:{page.route}"),
        }
        status = page.fault.status if page.fault else 200
        return pages.page(_TEMPLATES[page.route], context, status=status)

    def result(self, page: ResultPage, request: HttpRequest) -> HttpResponse:
        if keeps_logins() and (page.access_token or page.temp_token):
            return _entered(page, request)
        if keeps_logins() and page.outcome == _LINKED:
            return _linked(page, request)
        if page.challenge == "2fa" and page.temp_token and page.kept:
            return self.form(FormPage(route=_SECOND_FACTOR, hidden={"temp_token": page.temp_token}))
        return _result(page, conf.home_url or frontend.url or _login_page())


def _entered(page: ResultPage, request: HttpRequest) -> HttpResponse:
    """What follows on a login by a link: it stays in Django's session."""
    visiting = visitor.Visitor(request)
    if page.access_token and page.route.endswith("invitation-accept"):
        django_session.begin(request, page.access_token, remember=False)
        return visiting.finish(_result(page, visitor.home()))
    return visiting.finish(login_pages.enter_by_link(visiting, page))


def _linked(page: ResultPage, request: HttpRequest) -> HttpResponse:
    """Back to where the user began to link a provider, unless they are signed in elsewhere only."""
    visiting = visitor.Visitor(request)
    if visiting.caller is None:
        return visiting.finish(_result(page, _login_page()))
    notice = str(texts.of(page).heading)
    return visiting.finish(visiting.go(reverse("authservice:page-account-security"), notice))


def _result(page: ResultPage, home_url: str) -> HttpResponse:
    words = texts.of(page)
    context = {
        "heading": words.heading,
        "text": words.text,
        "home_url": home_url,
        "failed": page.status >= _WRONG,
    }
    return pages.page(_RESULT, context, status=page.status)


def _login_page() -> str:
    return reverse("authservice:page-login") if keeps_logins() else ""


def _errors(fault: Fault | None) -> dict[str, str]:
    """The texts of an error by field; under `form` if it belongs to none."""
    if fault is None:
        return {}
    if fault.details:
        return {name: " ".join(texts) for name, texts in fault.texts.items()}
    return {"form": fault.text}


link_pages = _Pages()
