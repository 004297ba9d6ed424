"""Paths of the pages, relative to the mount point.

Some are those of routes of the API: `page` passes on what is not for people. A project without
Django's sessions has only the pages of mailed links.
"""

from django.urls import path

from authservice.pages import calls, sections, sign_in
from authservice.pages.views import keeps_logins

_PAGES = (
    ("login", sign_in.log_in, "page-login", "login"),
    ("signup", sign_in.sign_up, "page-signup", "signup"),
    ("forgot-password", sign_in.forgot_password, "page-forgot-password", "forgot-password"),
    ("send-verification-email", sign_in.verify, "page-verify", "send-verification-email"),
    ("logout", sign_in.log_out, "page-logout", "logout"),
    ("2fa/verify-login", sign_in.second_factor, "page-second-factor", "2fa-verify-login"),
    ("magic-link/send", sign_in.magic_link, "page-magic-link", "send-magic-link"),
    (
        "magic-link/verify-code",
        sign_in.magic_code,
        "page-magic-code",
        "magic-link-verify-code",
    ),
)

urlpatterns = []
if keeps_logins():
    urlpatterns = [
        *(path(at, page, name=name) for at, page, name, route in _PAGES if calls.exists(route)),
        *sections.paths(),
    ]
