"""The page of the console, and its mailbox."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotFound, JsonResponse
from django.shortcuts import redirect, render
from django.urls import NoReverseMatch, get_script_prefix, reverse
from django.views.decorators.http import require_safe

from example_project.console import mailbox
from example_project.oauth import LOCAL
from example_project.start_up import manage

# The page loads scripts, styles and data from its own origin only. `data:` is for the QR code.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_NAMES = {"oidc": "OpenID Connect", "github": "GitHub"}


@require_safe
def page(request: HttpRequest, view: str) -> HttpResponse:
    if view == "start" and mailbox.is_key(request.GET.get("mailbox", "")):
        response: HttpResponse = redirect("console")  # the address of the page has no key
        mailbox.let_read(response)
    else:
        given = {"view": view, "session": has_session(request), **context()}
        response = render(request, "console/page.html", given)
    response.headers["Content-Security-Policy"] = _POLICY
    response.headers["Cache-Control"] = "no-store"
    # The address of the page may contain the token of a mail.
    response.headers["Referrer-Policy"] = "strict-origin"
    response.headers["X-Robots-Tag"] = "noindex"
    return response


@require_safe
def mails(request: HttpRequest) -> HttpResponse:
    if not mailbox.may_read(request):
        return HttpResponseNotFound(
            "To read the mailbox, open the address of the console that manage.py serve printed."
        )
    response = JsonResponse({"mails": mailbox.mails()})
    response.headers["Cache-Control"] = "no-store"
    return response


def has_session(request: HttpRequest) -> bool:
    """Whether the browser has a token cookie. Scripts cannot see it, and the refresh cookie
    outlives that of the access token."""
    names = ("authservice_access", "authservice_refresh")
    return any(cookie.removeprefix("__Host-") in names for cookie in request.COOKIES)


def context() -> dict[str, Any]:
    """What the page shows depends on the installed modules."""
    base = settings.AUTHSERVICE_BASE_PATH.strip("/")
    section = settings.AUTHSERVICE
    providers = section.get("OAUTH", {}).get("PROVIDERS", {})
    return {
        "api": f"{get_script_prefix()}{base}/",
        "start": reverse("console"),
        "mailbox": _address("console-mailbox"),
        "documentation": _address("authservice:docs"),
        "modules": _modules(),
        "cookies": section.get("COOKIES", {}).get("ENABLED", False),
        "roles": roles(section.get("ORGANIZATION", {}).get("ROLES", {})),
        "self_delete": section["CORE"]["ALLOW_SELF_DELETE"],
        "providers": [
            {"name": name, "title": _NAMES.get(name, name.title())}
            for name, given in providers.items()
            if given.get("ENABLED", True)
        ],
        "local_provider": providers.get("oidc", {}).get("ISSUER") == LOCAL["ISSUER"],
        "manage": manage(),
    }


def roles(own: dict[str, Any]) -> list[str]:
    """The roles to invite with, the usual one first."""
    return list(dict.fromkeys(["member", *own, "admin", "owner"]))


def _modules() -> set[str]:
    found = (app.partition("authservice.")[2] for app in settings.INSTALLED_APPS)
    return {name for name in found if name}


def _address(name: str) -> str:
    try:
        return reverse(name)
    except NoReverseMatch:
        return ""
