"""Paths of the pages, relative to the mount point.

Some are also paths of routes of the API: the decorator `page` passes requests of programs on to the
route. A project without Django's sessions has none of these paths, only the pages of mailed links.
"""

from django.urls import path

from authservice.pages import account_pages, calls, login_pages, preview
from authservice.pages.views import keeps_logins

# Path, view, name, and the route of the API without which there is no such page.
_PAGES = (
    ("login", login_pages.log_in, "page-login", "login"),
    ("signup", login_pages.sign_up, "page-signup", "signup"),
    ("forgot-password", login_pages.forgot_password, "page-forgot-password", "forgot-password"),
    ("send-verification-email", login_pages.verify, "page-verify", "send-verification-email"),
    ("logout", login_pages.log_out, "page-logout", "logout"),
    ("2fa/verify-login", login_pages.second_factor, "page-second-factor", "2fa-verify-login"),
    ("passkeys/login", login_pages.passkey_login, "page-passkey-login", "passkey-login"),
    ("magic-link/send", login_pages.magic_link, "page-magic-link", "send-magic-link"),
    (
        "magic-link/verify-code",
        login_pages.magic_code,
        "page-magic-code",
        "magic-link-verify-code",
    ),
)

urlpatterns = []
if keeps_logins():
    urlpatterns = [
        *(path(at, page, name=name) for at, page, name, route in _PAGES if calls.exists(route)),
        *account_pages.paths(),
        path("confirm", account_pages.confirm, name="page-step-up"),
        path("pages-preview", preview.preview, name="page-preview"),
    ]
