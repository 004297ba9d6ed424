"""System checks of this module: settings that would allow or refuse every request."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, register

from authservice.core.checks import name_faults, samesite_faults
from authservice.csrf.conf import conf
from authservice.csrf.guard import header_key
from authservice.kernel.checks import declare, message
from authservice.kernel.origins import parts_of, same_site
from authservice.kernel.sections import cookies, frontend, root, secure
from authservice.kernel.settings import complaints

declare(
    {
        "authservice.E131": (
            "CsrfViewMiddleware and CsrfMiddleware read different tokens from the same header, so"
            " every request is refused by one of them.",
            "Remove one of the two from MIDDLEWARE, or change CSRF.HEADER_NAME.",
        ),
        "authservice.W134": (
            "CSRF.TRUSTED_ORIGINS contains an http origin: an attacker on the network can forge"
            " requests from it.",
            "Serve the origin over https, and list it with https://.",
        ),
    }
)
declare(
    {
        "authservice.W231": (
            "The front end is on another site than API_URL, but a cookie has SameSite 'Lax' or"
            " 'Strict': browsers do not send it with requests of the front end, so they are"
            " refused.",
            "Serve both from one site, such as https://app.example.com and"
            " https://api.example.com, or set SameSite of the cookie to 'None', which requires"
            " https. localhost and 127.0.0.1 are two sites.",
        ),
    },
    area="cookies",
)

_DJANGO_MIDDLEWARE = "django.middleware.csrf.CsrfViewMiddleware"
_OUR_MIDDLEWARE = "authservice.csrf.middleware.CsrfMiddleware"


def connect() -> None:
    register(check_csrf, "authservice")


def check_csrf(**_: Any) -> list[CheckMessage]:
    # Core's own check reports wrong keys and types; until they are fixed, no setting can be read.
    if not apps.is_installed("authservice.csrf") or list(complaints()):
        return []
    others = (cookies.access_name, cookies.refresh_name)
    messages = [
        *name_faults("CSRF.COOKIE_NAME", conf.cookie_name, other_names=others),
        *samesite_faults("CSRF.COOKIE_SAMESITE", conf.cookie_samesite),
    ]
    both = {_DJANGO_MIDDLEWARE, _OUR_MIDDLEWARE} <= set(settings.MIDDLEWARE)
    if both and header_key() == settings.CSRF_HEADER_NAME:
        messages.append(message("authservice.E131"))
    for origin in conf.trusted_origins:
        if secure() and parts_of(str(origin)).scheme == "http":
            text = (
                f"CSRF.TRUSTED_ORIGINS contains {origin!r}: an attacker on the network can forge"
                " requests from an origin without https."
            )
            messages.append(message("authservice.W134", text))
    # Only cookies with "None" are sent with requests of a front end on another site.
    samesite_of = {"CSRF.COOKIE_SAMESITE": conf.cookie_samesite}
    if cookies.enabled:
        samesite_of["COOKIES.SAMESITE"] = cookies.samesite
    names = [name for name, samesite in samesite_of.items() if samesite != "None"]
    if names and root.api_url and frontend.url and not same_site(root.api_url, frontend.url):
        verb, noun = ("keep", "the cookies") if len(names) > 1 else ("keeps", "the cookie")
        text = (
            f"AUTHSERVICE['API_URL'] is {root.api_url!r} and FRONTEND.URL is {frontend.url!r},"
            f" which is another site. {' and '.join(names)} {verb} browsers from sending {noun}, so"
            " requests of the front end are refused."
        )
        messages.append(message("authservice.W231", text))
    return messages
