"""The first stage: users who signed in with the old package, and both packages side by side."""

from __future__ import annotations

import os
from io import StringIO
from typing import Any

import django

django.setup()

from django.apps import apps  # noqa: E402
from django.core.management import call_command  # noqa: E402
from rest_framework_simplejwt.token_blacklist.models import OutstandingToken  # noqa: E402
from rest_framework_simplejwt.tokens import RefreshToken  # noqa: E402
from rest_framework_simplejwt.utils import datetime_from_epoch  # noqa: E402

from authservice.core.models import Account  # noqa: E402
from authservice.twofactor.models import Authenticator, BackupCode  # noqa: E402
from tests.compat.moving import clients, users  # noqa: E402
from tests.support.client import PASSWORD  # noqa: E402

REAL = 100  # users who log in by requests


def issue_tokens(users: list[Any]) -> dict[str, str]:
    """A refresh token of each user: of some by a login with the old package, of the others as such
    a login issues it. Some front ends have already refreshed with the old package."""
    issued, rows = {}, []
    for user in users[REAL:]:
        token = RefreshToken()
        token["user_id"] = str(user.pk)
        issued[str(user.pk)] = str(token)
        created, expires = token.current_time, datetime_from_epoch(token["exp"])
        rows.append(
            OutstandingToken(
                user=user,
                jti=token["jti"],
                token=str(token),
                created_at=created,
                expires_at=expires,
            )
        )
    OutstandingToken.objects.bulk_create(rows, batch_size=500)
    real = {str(one.pk): clients.old_login(one.username)["refresh"] for one in users[:REAL]}
    for user in list(real)[::2]:
        real[user] = clients.expect(clients.REFRESH, {"refresh": real[user]})["refresh"]
    return real | issued


def side_by_side(issued: dict[str, str]) -> None:
    """Old and new clients of the same users at the same time."""
    first, second, third, fourth, *_ = issued
    old = clients.old_login("user0")
    assert clients.user_of(old["access"]) == first
    # The old front end refreshes with the old package, then the new one trades its token.
    rotated = clients.expect(clients.REFRESH, {"refresh": old["refresh"]})
    new = clients.expect("/auth/refresh", {"refresh_token": rotated["refresh"]})
    assert clients.user_of(new["access_token"]) == first
    # An access token of the old package is valid until it expires, also after the trade.
    assert clients.user_of(rotated["access"]) == first
    # The old package refuses what was traded, and a login with each package works.
    assert clients.send(clients.REFRESH, {"refresh": rotated["refresh"]}).status_code == 401
    body = {"username": "user1", "password": PASSWORD}
    assert clients.user_of(clients.expect("/auth/login", body)["access_token"]) == second
    assert clients.user_of(clients.old_login("user1")["access"]) == second
    # A browser that kept the token in a cookie of the old package.
    traded = clients.expect("/auth/refresh", {}, {"old-refresh": issued[third]})
    assert clients.user_of(traded["access_token"]) == third
    assert clients.send("/auth/refresh", {"refresh_token": issued[third]}).status_code == 401
    issued[third] = traded["refresh_token"]
    # Some of the others get the new front end in this stage.
    for user in list(issued)[3 : 3 + max(len(issued) // 50, 2)]:
        data = clients.expect("/auth/refresh", {"refresh_token": issued[user]})
        issued[user] = data["refresh_token"]


def bring_factors_and_addresses(verified: int, factors: int) -> None:
    """Import what the old package knows of its users, twice."""
    for _ in range(2):
        call_command("authservice_import", "allauth", verbosity=0, stdout=StringIO())
        assert Account.objects.exclude(verified_email_key="").count() == verified
        assert Authenticator.objects.count() == factors
        # Ten codes of each; every second user has used one.
        assert BackupCode.objects.count() == factors * 10 - factors // 2


if __name__ == "__main__":
    call_command("migrate", verbosity=0)
    old_users, given = users.create(int(os.environ["USERS"])), {}
    if apps.is_installed("allauth.account"):
        known = users.add_addresses(old_users)
        given = users.add_factors(old_users)
    held = issue_tokens(old_users)
    call_command("authservice_sync_accounts", verbosity=0, stdout=StringIO())
    if given:
        bring_factors_and_addresses(known, len(given))
    side_by_side(held)
    clients.keep(
        {"refresh": held, "access": clients.old_login("user3")["access"], "factors": given}
    )
