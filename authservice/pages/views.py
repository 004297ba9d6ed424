"""Fills the slot `link_pages`: the form of a link, and the result of a route in words.

The templates are below `templates/authservice/pages`. A project may replace each of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from authservice.core.credentials import password_rules
from authservice.kernel.http import pages
from authservice.kernel.link_pages import FormPage, LinkPages, ResultPage
from authservice.kernel.sections import frontend
from authservice.pages import form_fields, login_pages, texts, visitor
from authservice.pages.conf import conf, text_on

_SECOND_FACTOR = "2fa-verify-login"
_JOINED = "org-invitation-accept"
_TEMPLATES = {
    "reset-password": "authservice/pages/reset_password.html",
    "invitation-accept": "authservice/pages/accept_invitation.html",
    _JOINED: "authservice/pages/accept_invitation.html",
    _SECOND_FACTOR: "authservice/pages/second_factor.html",
}
_RESULT = "authservice/pages/result.html"
_LOWEST_ERROR = 400
# The page that mails a new link, by the route of one that does not work.
_RENEWALS = {
    "reset-password": "page-forgot-password",
    "magic-link-verify": "page-magic-link",
    "verify-email": "page-verify",
}
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
            "text_on_color": text_on(conf.color),
            "color_dark": conf.color_dark,
            "font": conf.font,
            "radius": str(conf.radius),  # as text, since a template takes 0 for absent
            "legal_links": conf.legal_links,
            "text_on_color_dark": text_on(conf.color_dark),
        }

    def form(self, page: FormPage) -> HttpResponse:
        errors = {}
        if page.fault and page.fault.details:
            errors = {name: " ".join(rules) for name, rules in page.fault.texts.items()}
        elif page.fault:  # it belongs to no field
            errors = {"form": page.fault.text}
        context = {
            # Secrets: a template writes one as `token.reveal`, so that none is in an error report.
            **page.hidden,
            # Of a new user, unless the details of the link have those of its user.
            "password_rules": password_rules.rules_for(),
            **page.link_details,
            "typed": page.typed,
            "errors": errors,
            "wrong": len(errors.keys() - {"form"}),  # how many fields
            "script": form_fields.script(),
            "action": reverse(f"authservice:{page.route}"),
        }
        status = page.fault.status if page.fault else 200
        return pages.page(_TEMPLATES[page.route], context, status=status)

    def result(self, page: ResultPage, request: HttpRequest) -> HttpResponse:
        if keeps_logins() and (page.access_token or page.temp_token):
            # The login begins in this browser: Django's session keeps it.
            current_visitor = visitor.Visitor(request)
            if page.access_token and page.route.endswith("invitation-accept"):
                # The result page says that the invitation was accepted; other logins are led on.
                current_visitor.begin(page.access_token)
                choice = _choice_of_organization() if page.route == _JOINED else ""
                return current_visitor.finish(_result(page, visitor.home(), choice))
            return current_visitor.finish(login_pages.enter_by_link(current_visitor, page))
        if keeps_logins() and page.outcome == _LINKED:
            # Back to where the user began to link a provider, unless this browser is not signed in:
            # the user may have begun in another one.
            current_visitor = visitor.Visitor(request)
            if current_visitor.caller is None:
                return current_visitor.finish(_result(page, _login_page()))
            security = reverse("authservice:page-account-security")
            return current_visitor.finish(current_visitor.go(security, str(texts.of(page).heading)))
        # Token cookies keep the login in this browser, so a page can ask for the second factor.
        if page.challenge == "2fa" and page.temp_token and page.keeps_login:
            return self.form(FormPage(route=_SECOND_FACTOR, hidden={"temp_token": page.temp_token}))
        return _result(page, conf.home_url or frontend.url or _login_page())


def _result(page: ResultPage, home_url: str, organizations: str = "") -> HttpResponse:
    words = texts.of(page)
    renews = keeps_logins() and texts.is_of_link(page) and page.route in _RENEWALS
    context = {
        "heading": words.heading,
        "text": words.text,
        "home_url": home_url,
        "organizations": organizations,
        "failed": page.status >= _LOWEST_ERROR,
        "renew": reverse(f"authservice:{_RENEWALS[page.route]}") if renews else "",
        "log_in": _login_page(),
    }
    return pages.page(_RESULT, context, status=page.status)


def _choice_of_organization() -> str:
    """The page on which a new member switches to the organization: a new session has no active
    one. It leads on to where logins lead."""
    query = urlencode({visitor.NEXT: visitor.home()})
    return f"{reverse('authservice:page-account-organizations')}?{query}"


def _login_page() -> str:
    return reverse("authservice:page-login") if keeps_logins() else ""


link_pages = _Pages()
