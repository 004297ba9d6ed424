"""The second stage: the old package is removed, and every user stays signed in."""

from __future__ import annotations

from typing import Any

import django

django.setup()

from django.apps import apps  # noqa: E402
from django.contrib.auth import get_user_model  # noqa: E402
from django.utils import timezone  # noqa: E402
from rest_framework_simplejwt.token_blacklist.models import OutstandingToken  # noqa: E402

from authservice.compat.simplejwt.trade import conf  # noqa: E402
from authservice.core.models import Account, Session  # noqa: E402
from tests.compat.moving import clients  # noqa: E402
from tests.support.client import PASSWORD  # noqa: E402

SOME = 60  # users with a factor whose old client tries to log in
# The kinds of users repeat after 5, 13 and 50. Seven shares no factor with these, so one in seven
# of many users has every combination of kinds.
STEP = 7
COMBINATIONS = 13 * 50


def sample(waiting: list[str]) -> list[str]:
    """The users whose front ends refresh in this stage: all of a few, or some of every kind."""
    return waiting if len(waiting) < COMBINATIONS * STEP else waiting[::STEP]


def tradable(tokens: dict[str, str]) -> dict[str, str]:
    """The tokens of the old package that the tables allow their users to trade: by all that a trade
    looks up, for all users at once."""
    listed = OutstandingToken.objects.filter(
        blacklistedtoken=None,
        expires_at__gt=timezone.now(),
        created_at__lt=conf.trade_issued_before,
        user__in=get_user_model().objects.filter(is_active=True, is_staff=False),
        user_id__in=Account.objects.filter(active=True, is_super_admin=False).values("user_id"),
    )
    pairs = ((str(user), token) for user, token in listed.values_list("user_id", "token"))
    return {user: token for user, token in pairs if tokens[user] == token}


def signed_in() -> set[str]:
    users = Session.objects.filter(ended_at=None).values_list("user_id", flat=True)
    return {str(user) for user in users}


def refreshed(user: str, token: str) -> dict[str, Any]:
    """The tokens of a user whose front end refreshes; one in five has never been changed."""
    if int(user) % 5 == 0 and "." in token:
        return clients.expect("/old/token/refresh/", {"refresh": token})
    data = clients.expect("/auth/refresh", {"refresh_token": token})
    return {"access": data["access_token"], "refresh": data["refresh_token"]}


def stay_signed_in(tokens: dict[str, str]) -> dict[str, str]:
    """The new tokens of users whose front ends refresh; all the others still can."""
    ours = {user for user, token in tokens.items() if "." not in token}
    theirs = tradable(tokens)
    assert len(tokens) == get_user_model().objects.count()
    assert ours <= signed_in()
    assert ours | theirs.keys() == tokens.keys()

    renewed = {}
    for user in sorted(ours) + sample(list(theirs)):
        given = refreshed(user, tokens[user])
        if int(user) % 100 == 0:
            assert clients.user_of(given["access"]) == user
        renewed[user] = given["refresh"]

    assert renewed.keys() <= signed_in()
    assert tradable(tokens).keys() == tokens.keys() - renewed.keys()
    return renewed


if __name__ == "__main__":
    old_apps = ("allauth", "dj_rest_auth", "djoser")
    assert not any(apps.is_installed(name) for name in old_apps)
    held = clients.held()
    # An access token that the old package issued a moment ago.
    assert clients.user_of(held["access"]) in held["refresh"]
    held["refresh"] = stay_signed_in(held["refresh"])
    # An old client cannot log in without the second factor that the user had before.
    for name in list(held["factors"])[:SOME]:
        refused = clients.send("/old/token/", {"username": name, "password": PASSWORD})
        assert (refused.status_code, refused.json()["code"]) == (401, "TWO_FACTOR_REQUIRED")
    clients.keep(held)
