"""The users of the old package, and the addresses and second factors that allauth knows of them."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import make_password
from django.db import transaction

from tests.support.client import PASSWORD


def create(number: int) -> list[Any]:
    """The users `user0`, `user1` and so on."""
    users, encoded = get_user_model(), make_password(PASSWORD)
    users.objects.bulk_create(
        users(username=f"user{n}", email=f"user{n}@example.com", password=encoded)
        for n in range(number)
    )
    return list(users.objects.order_by("pk"))


def add_addresses(users: list[Any]) -> int:
    """One in five is unverified. One in fifty has a second one, another spelling, a former one
    instead, or no row. Returns the number of users whose address is verified."""
    addresses = apps.get_model("account", "EmailAddress")
    rows = []
    verified = len(users)
    for n, user in enumerate(users):
        email, kind = user.email, n % 50
        verified -= not (n % 5 and kind not in (3, 4))
        if kind == 2:
            email = email.upper()
        elif kind == 3:
            email = f"former-{email}"
        if kind != 4:
            rows.append(addresses(user=user, email=email, primary=True, verified=bool(n % 5)))
        if kind == 1:
            second = f"second-{email}"
            rows.append(addresses(user=user, email=second, primary=False, verified=True))
    addresses.objects.bulk_create(rows)
    return verified


@transaction.atomic
def add_factors(users: list[Any]) -> dict[str, dict[str, str]]:
    """An app and recovery codes of one in thirteen users, as allauth itself makes them: the seed,
    an unused code, and one that every second of them has used."""
    from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
    from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret

    factors = {}
    for n, user in enumerate(users[4::13]):
        seed = generate_totp_secret()
        TOTP.activate(user, seed)
        codes = RecoveryCodes.activate(user)
        used, unused, *_ = codes.get_unused_codes()
        if n % 2:
            assert codes.validate_code(used)
        factors[user.username] = {"seed": seed, "unused": unused, "used": used if n % 2 else ""}
    return factors
