"""The first stage: users who signed in with the old package, and both packages side by side."""

from __future__ import annotations

import os

import django

django.setup()

from django.apps import apps  # noqa: E402
from django.contrib.auth import get_user_model  # noqa: E402
from django.contrib.auth.hashers import make_password  # noqa: E402
from django.core.management import call_command  # noqa: E402
from rest_framework_simplejwt.token_blacklist.models import OutstandingToken  # noqa: E402
from rest_framework_simplejwt.tokens import RefreshToken  # noqa: E402
from rest_framework_simplejwt.utils import datetime_from_epoch  # noqa: E402

from authservice.core.models import Account  # noqa: E402
from tests.compat.moving import clients  # noqa: E402
from tests.support.client import PASSWORD  # noqa: E402

USERS = int(os.environ["USERS"])


def create_users() -> None:
    """Users of the old package, one in three with an unverified address."""
    users, encoded = get_user_model(), make_password(PASSWORD)
    users.objects.bulk_create(
        users(username=f"user{n}", email=f"user{n}@example.com", password=encoded)
        for n in range(USERS)
    )
    if apps.is_installed("allauth.account"):
        addresses = apps.get_model("account", "EmailAddress")
        addresses.objects.bulk_create(
            addresses(user=user, email=user.email, primary=True, verified=bool(n % 3))
            for n, user in enumerate(users.objects.order_by("pk"))
        )


def set_up_factors() -> dict[str, dict[str, str]]:
    """The factors of one in ten users, at most of twenty: the seed of an app, and a recovery code,
    as allauth itself makes them."""
    if not apps.is_installed("allauth.mfa"):
        return {}
    from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
    from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret

    factors = {}
    for user in get_user_model().objects.order_by("pk")[5 : 5 + min(20, USERS // 10)]:
        seed = generate_totp_secret()
        TOTP.activate(user, seed)
        codes = RecoveryCodes.activate(user).get_unused_codes()
        factors[user.get_username()] = {"seed": seed, "code": codes[0]}
    return factors


def issue_tokens() -> dict[str, str]:
    """A refresh token of each user, as a login issues it, without the time of 10,000 logins."""
    issued, rows = {}, []
    for user in get_user_model().objects.order_by("pk"):
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
    return issued


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
    for user in list(issued)[3 : 3 + USERS // 10]:
        data = clients.expect("/auth/refresh", {"refresh_token": issued[user]})
        issued[user] = data["refresh_token"]


if __name__ == "__main__":
    call_command("migrate", verbosity=0)
    create_users()
    factors, tokens = set_up_factors(), issue_tokens()
    call_command("authservice_sync_accounts", verbosity=0)
    # What the old package knows of its users.
    if apps.is_installed("allauth.account"):
        call_command("authservice_import", "allauth", verbosity=0)
        verified = Account.objects.exclude(verified_email_key="").count()
        assert verified == USERS - len(range(0, USERS, 3)), verified
    side_by_side(tokens)
    access = clients.old_login("user3")["access"]
    clients.keep({"refresh": tokens, "access": access, "factors": factors})
