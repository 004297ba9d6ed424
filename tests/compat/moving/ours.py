"""The second stage: the old package is removed, and every user stays signed in."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import django

django.setup()

from django.apps import apps  # noqa: E402
from django.contrib.auth import get_user_model  # noqa: E402
from django.db import connections  # noqa: E402

from authservice.core.models import Session  # noqa: E402
from tests.compat.moving import clients  # noqa: E402
from tests.support.client import PASSWORD  # noqa: E402

PROCESSES = 2
SOME = 60  # users with a factor whose old client tries to log in


def refreshed(user: str, token: str) -> dict[str, str]:
    """The tokens of a user whose front end refreshes; one in five has never been changed."""
    if int(user) % 5 == 0 and "." in token:
        return clients.expect("/old/token/refresh/", {"refresh": token})
    data = clients.expect("/auth/refresh", {"refresh_token": token})
    return {"access": data["access_token"], "refresh": data["refresh_token"]}


def some_refreshed(tokens: dict[str, str]) -> dict[str, str]:
    renewed = {}
    for user, token in tokens.items():
        given = refreshed(user, token)
        if int(user) % 100 == 0:
            assert clients.user_of(given["access"]) == user
        renewed[user] = given["refresh"]
    return renewed


def all_refreshed(tokens: dict[str, str]) -> dict[str, str]:
    """The new refresh tokens of all users, who are served by several processes."""
    connections.close_all()
    parts = [dict(list(tokens.items())[n::PROCESSES]) for n in range(PROCESSES)]
    with ProcessPoolExecutor(PROCESSES, get_context("fork")) as pool:
        return {
            user: token for part in pool.map(some_refreshed, parts) for user, token in part.items()
        }


if __name__ == "__main__":
    old_apps = ("allauth", "dj_rest_auth", "djoser")
    assert not any(apps.is_installed(name) for name in old_apps)
    held = clients.held()
    # An access token that the old package issued a moment ago.
    assert clients.user_of(held["access"]) in held["refresh"]
    held["refresh"] = all_refreshed(held["refresh"])
    # An old client cannot log in without the second factor that the user had before.
    for name in list(held["factors"])[:SOME]:
        refused = clients.send("/old/token/", {"username": name, "password": PASSWORD})
        assert (refused.status_code, refused.json()["code"]) == (401, "TWO_FACTOR_REQUIRED")
    signed_in = Session.objects.filter(ended_at=None).values("user").distinct().count()
    assert signed_in == get_user_model().objects.count() == len(held["refresh"])
    clients.keep(held)
