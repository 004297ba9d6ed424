"""In a host without organization, audit, magiclink and twofactor: their pages leave no trace."""

import os

import pytest
from django.contrib.auth import get_user_model

from tests.support.client import PASSWORD

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(
        not os.environ.get("PAGES_WITHOUT"), reason="the host has the modules: another one has not"
    ),
]

PATHS = (
    *("account/organizations", "account/organizations/create", "account/activity"),
    *("account/sessions", "magic-link/send", "magic-link/verify-code", "2fa/verify-login"),
    *("account/security/factor", "account/security/backup-codes", "account/security/link"),
    *("passkeys/login", "account/security/passkey", "account/security/passkey-change"),
)
WORDS = (
    "Organizations",
    "Activity",
    "Sessions",
    "Send me a link",
    "Two-factor",
    "Continue with",
    "asskey",
)


def test_pages_of_missing_modules_are_absent(signed_in):
    shown = [signed_in.open(f"/auth/{path}") for path in ("account", "account/security")]
    shown.append(signed_in.open("/auth/login?again=1"))

    shown.append(signed_in.open("/auth/confirm"))

    assert [word for page in shown for word in WORDS if word in page.text] == []
    assert [
        page.url for page in shown if "Credential" in page.html or "webauthn" in page.html
    ] == []
    assert [signed_in.visit(f"/auth/{path}").status for path in PATHS] == [404] * len(PATHS)


def test_password_alone_proves_the_account(signed_in):
    page = signed_in.open("/auth/account/profile/username")

    signed_in.send(page, username="lee", password=PASSWORD)

    assert get_user_model().objects.get().username == "lee"
