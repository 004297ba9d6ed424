"""System checks of this module: colours with too little contrast, and what users of the pages need:
a middleware in its place, an address of the login, and mails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.conf import global_settings, settings
from django.core.checks import CheckMessage, register
from django.urls import is_valid_path

from authservice.kernel import message_queue
from authservice.kernel.checks import declare, message
from authservice.kernel.sections import frontend, root
from authservice.kernel.settings import complaints
from authservice.pages import views
from authservice.pages.conf import COLOR, MINIMUM, PAGE, PAGE_DARK, conf, ratio

declare(
    {
        "authservice.W239": (
            "A colour of PAGES has too little contrast with the page: many people cannot read"
            " links and buttons.",
            "Use a darker COLOR, or a lighter COLOR_DARK: a contrast of 4.5 to 1 is needed (WCAG"
            " 2.2).",
        ),
        "authservice.W240": (
            "Users can sign in on the pages, but views of the project do not know them: MIDDLEWARE"
            " lacks AuthserviceMiddleware.",
            "Add 'authservice.middleware.AuthserviceMiddleware' to MIDDLEWARE, after"
            " AuthenticationMiddleware, or set FRONTEND.URL if the project has a front end.",
        ),
        "authservice.W243": (
            "AuthserviceMiddleware comes before AuthenticationMiddleware in MIDDLEWARE, which then"
            " hides users who sign in on the pages from Django's own tools.",
            "Put 'authservice.middleware.AuthserviceMiddleware' after"
            " 'django.contrib.auth.middleware.AuthenticationMiddleware'.",
        ),
        "authservice.W244": (
            "LOGIN_URL is not set, so login_required leads to an address that the project does not"
            " have.",
            "Set LOGIN_URL to 'authservice:page-login', the sign-in page.",
        ),
        "authservice.W245": (
            "The pages promise mails, such as after a forgotten password, but no installed app"
            " sends e-mails.",
            "Add 'authservice.notification' to INSTALLED_APPS.",
        ),
        "authservice.W246": (
            "SESSION_COOKIE_AGE is shorter than REFRESH_TOKEN_TTL, so users of the pages are signed"
            " out before their session ends.",
            "Raise SESSION_COOKIE_AGE of Django. If logins should end after such a pause, lower"
            " REFRESH_TOKEN_TTL instead.",
        ),
    }
)


_MIDDLEWARE = "authservice.middleware.AuthserviceMiddleware"
_OF_DJANGO = "django.contrib.auth.middleware.AuthenticationMiddleware"


def connect() -> None:
    register(check_pages, "authservice")


def check_pages(**_: Any) -> Iterator[CheckMessage]:
    # Core's own check reports wrong keys and types; until they are fixed, no setting can be read.
    if not apps.is_installed("authservice.pages") or list(complaints()):
        return
    if views.keeps_logins() and not frontend.url:
        names = list(settings.MIDDLEWARE)
        if _MIDDLEWARE not in names:
            yield message("authservice.W240")
        elif _OF_DJANGO in names and names.index(_MIDDLEWARE) < names.index(_OF_DJANGO):
            yield message("authservice.W243")
        # Any other LOGIN_URL is the choice of the project.
        login_url: Any = settings.LOGIN_URL
        if login_url == global_settings.LOGIN_URL and not is_valid_path(login_url):
            yield message("authservice.W244")
    if (
        views.keeps_logins()
        and root.refresh_token_ttl.total_seconds() > settings.SESSION_COOKIE_AGE
    ):
        yield message("authservice.W246")
    if not message_queue.can_mail():
        yield message("authservice.W245")
    colors = (
        ("COLOR", conf.color, PAGE),
        ("COLOR_DARK", conf.color_dark, PAGE_DARK),
    )
    for name, color, page in colors:
        if not COLOR.fullmatch(color):
            continue  # reported as authservice.E006
        if (contrast := ratio(color, page)) < MINIMUM:
            text = (
                f"PAGES.{name} is {color!r}, whose contrast with the page is {contrast:.1f} to 1:"
                " many people cannot read links and buttons."
            )
            yield message("authservice.W239", text)
