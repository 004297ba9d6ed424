"""A project on django-two-factor-auth moves: its login page, Django's sessions, apps and tokens.

`python -m tests.compat.moving.two_factor` runs the stage that `STAGE` names: in `both` the pages of
the package and the routes of this service, in `ours` the package is removed but the tables of its
devices are not, in `alone` they are.
"""

from __future__ import annotations

import base64
import os
import time
from io import StringIO
from typing import Any

import django
import pyotp

django.setup()

from django.apps import apps  # noqa: E402
from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.test import Client  # noqa: E402

from authservice.twofactor.models import Authenticator, BackupCode  # noqa: E402
from tests.compat.moving import clients, users  # noqa: E402
from tests.support.client import PASSWORD  # noqa: E402

LOGIN = "/account/login/"
TOKENS = 3  # of each user
PHONES = 5  # users who get a code by phone only
# Users who log in on the page of the package, with the app, a backup token or the password alone.
WITH_APP, WITH_TOKEN, WITHOUT = slice(0, 12), slice(12, 20), slice(-5, None)


def both() -> None:
    call_command("migrate", verbosity=0)
    everyone = users.create(int(os.environ["USERS"]))
    factors, sessions = add_devices(everyone[: -PHONES * 2]), {}
    add_phones(everyone[-PHONES * 2 : -PHONES])
    names = list(factors)
    assert wizard(names[-1], token="000000") == ""
    for name in names[WITH_APP]:
        sessions[name] = wizard(name, token=app(factors[name]).now())
    for name in names[WITH_TOKEN]:
        sessions[name] = wizard(name, backup=factors[name]["used"])
    for user in everyone[WITHOUT]:
        sessions[user.username] = wizard(user.username)
    call_command("authservice_sync_accounts", "--verified", "all", verbosity=0, stdout=StringIO())
    bring(len(factors))
    side_by_side(factors, sessions)
    stay_signed_in(sessions, verified=set(names))
    clients.keep({"factors": factors, "sessions": sessions})


def ours() -> None:
    assert not apps.is_installed("two_factor")
    assert Client().get(LOGIN).status_code == 404
    held = clients.held()
    stay_signed_in(held["sessions"], verified=set(held["factors"]))
    log_in_here(held["factors"], slice(20, 50))
    name = list(held["factors"])[50]
    token = clients.log_in(name, held["factors"][name]["unused"])["access_token"]
    shown = Client().get("/page/", headers={"Authorization": f"Bearer {token}"})
    assert shown.json() == {"user": name, "verified": False}


def alone() -> None:
    """Sessions stay valid, but django-otp cannot find the device that verified them."""
    assert not apps.is_installed("django_otp.plugins.otp_totp")
    held = clients.held()
    factors, sessions = held["factors"], held["sessions"]
    stay_signed_in(sessions, verified=set())
    log_in_here(factors, slice(51, 80))
    # Users who had used a token or a code of the app on the old page have the others.
    for name in list(factors)[WITH_TOKEN]:
        refused = clients.answer(name, factors[name]["used"])
        assert refused.json()["data"]["code"] == "TWO_FACTOR_INVALID"
        clients.log_in(name, factors[name]["unused"])
    assert Authenticator.objects.count() == len(factors)


def app(factor: dict[str, str]) -> pyotp.TOTP:
    return pyotp.TOTP(factor["seed"])


def add_devices(owners: list[Any]) -> dict[str, dict[str, str]]:
    """A token generator and backup tokens of each user, as the pages of the package store them."""
    from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
    from django_otp.plugins.otp_totp.models import TOTPDevice

    apps_of = [TOTPDevice(user=user, name="default", confirmed=True) for user in owners]
    TOTPDevice.objects.bulk_create(apps_of)
    StaticDevice.objects.bulk_create(StaticDevice(user=user, name="backup") for user in owners)
    tokens = [
        StaticToken(device=device, token=StaticToken.random_token())
        for device in StaticDevice.objects.order_by("user")
        for _ in range(TOKENS)
    ]
    StaticToken.objects.bulk_create(tokens)
    codes = [one.token for one in tokens]
    return {
        device.user.username: {
            "seed": base64.b32encode(device.bin_key).decode(),
            "used": codes[place * TOKENS],
            "unused": codes[place * TOKENS + 1],
        }
        for place, device in enumerate(apps_of)
    }


def add_phones(owners: list[Any]) -> None:
    from two_factor.plugins.phonenumber.models import PhoneDevice

    for user in owners:
        number = f"+4930901820{user.pk % 100:02}"
        PhoneDevice.objects.create(user=user, name="default", number=number, method="sms")


def wizard(name: str, *, token: str = "", backup: str = "") -> str:
    """Log in on the page of the package, step by step; the session, or "" if a step is refused."""
    client = Client()

    def step(current: str, **fields: str) -> Any:
        sent = {f"{current}-{field}": value for field, value in fields.items()}
        return client.post(LOGIN, {"login_view-current_step": current, **sent})

    response = step("auth", username=name, password=PASSWORD)
    if backup:
        assert response.status_code == 200
        client.post(LOGIN, {"wizard_goto_step": "backup"})
        response = step("backup", otp_token=backup)
    elif token:
        assert response.status_code == 200
        assert not _user_of_page(client)["user"]
        response = step("token", otp_token=token)
    if response.status_code != 302:
        return ""
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def bring(number: int) -> None:
    """Import what the package knows, twice."""
    for _ in range(2):
        out = StringIO()
        call_command("authservice_import", "two_factor", stdout=out)
        assert Authenticator.objects.count() == number
        assert BackupCode.objects.count() == number * TOKENS - len(range(20)[WITH_TOKEN])
    assert f"{PHONES} rows. This is no failure" in out.getvalue(), out.getvalue()


def side_by_side(factors: dict[str, dict[str, str]], sessions: dict[str, str]) -> None:
    """Old pages and new clients of the same users at the same time, with one app."""
    first, second, *_ = factors
    # The code that opened the old page opens nothing here; the next one does.
    refused = clients.answer(first, app(factors[first]).at(_used_at(first)))
    assert refused.json()["data"]["code"] == "TWO_FACTOR_INVALID"
    clients.log_in(first, app(factors[first]).at(_used_at(first) + 30))
    assert clients.user_of(clients.log_in(second, factors[second]["unused"])["access_token"])
    # A user who logs in on the old page after the import is signed in there too.
    late = list(factors)[80]
    sessions[late] = wizard(late, token=app(factors[late]).now())
    # A new password here ends the old session of that user, and of nobody else.
    changed = list(factors)[81]
    ended = wizard(changed, token=app(factors[changed]).now())
    tokens = clients.log_in(changed, factors[changed]["unused"])
    body = {"old_password": PASSWORD, "new_password": "another plum tart 43"}
    assert clients.put("/auth/change-password", body, tokens["access_token"]).status_code == 200
    assert not _user_of_page(_browser(ended))["user"]


def _used_at(name: str) -> float:
    from django_otp.plugins.otp_totp.models import TOTPDevice

    return float(TOTPDevice.objects.get(user__username=name).last_t * 30)


def stay_signed_in(sessions: dict[str, str], *, verified: set[str]) -> None:
    """Views of the project accept the sessions of the old page, without any token."""
    for name, session in sessions.items():
        assert session, name
        shown = {"user": name, "verified": name in verified}
        assert _user_of_page(_browser(session)) == shown
        assert _browser(session).get("/mine/").status_code == 200


def log_in_here(factors: dict[str, dict[str, str]], some: slice) -> None:
    """Users log in with the app or a token that they had before, and not without it."""
    for n, name in enumerate(list(factors)[some]):
        factor = factors[name]
        clients.log_in(name, app(factor).at(time.time()) if n % 2 else factor["unused"])


def _browser(session: str) -> Client:
    client = Client()
    client.cookies[settings.SESSION_COOKIE_NAME] = session
    return client


def _user_of_page(client: Client) -> dict[str, Any]:
    shown: dict[str, Any] = client.get("/page/").json()
    return shown


if __name__ == "__main__":
    {"both": both, "ours": ours, "alone": alone}[os.environ["STAGE"]]()
