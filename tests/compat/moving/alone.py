"""The last stage: the time of trades is over, and nothing of the old package is left."""

from __future__ import annotations

import django
import pyotp

django.setup()

from django.apps import apps  # noqa: E402

from tests.compat.moving import clients  # noqa: E402
from tests.support.client import PASSWORD  # noqa: E402


def signed_in(name: str, code: str) -> None:
    """Log in with the second factor that the user had before the move."""
    challenged = clients.expect("/auth/login", {"username": name, "password": PASSWORD})
    [challenge] = challenged["challenges"]
    body = {"temp_token": challenge["data"]["temp_token"], "code": code}
    data = clients.expect("/auth/2fa/verify-login", body)
    assert clients.user_of(data["access_token"]) == data["user"]["id"]


if __name__ == "__main__":
    assert not apps.is_installed("rest_framework_simplejwt.token_blacklist")
    held = clients.held()
    assert clients.is_refused(held["access"])
    for user in list(held["refresh"])[:50]:
        data = clients.expect("/auth/refresh", {"refresh_token": held["refresh"][user]})
        assert clients.user_of(data["access_token"]) == user
    for name, factor in held["factors"].items():
        for code in (pyotp.TOTP(factor["seed"]).now(), factor["code"]):
            signed_in(name, code)
