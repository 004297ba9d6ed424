"""What the service says of people and sign-ins: plain functions from rows to dicts."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.http import HttpResponse

from authservice.core import devices
from authservice.core.login import Login
from authservice.core.people import Person
from authservice.core.sign_ins import Tokens
from authservice.kernel.http import cookies
from authservice.kernel.http.client import DEVICE_COOKIE
from authservice.kernel.http.envelope import answer, utc
from authservice.kernel.modules import plugs

CHALLENGED = "A further step is needed to sign in."
WRITTEN = "A message to this address says how to go on."
VERIFY_FIRST = "The account was made. Verify it to sign in."


def user(person: Person) -> dict[str, Any]:
    """The User of the interface, without the fields of admin views."""
    account = person.account
    return {
        "id": person.id,
        "email": person.email,
        "name": account.name,
        "first_name": person.first_name,
        "last_name": person.last_name,
        "username": person.username,
        "avatar": account.avatar,
        "phone_number": account.phone_number,
        "active": person.active,
        "email_verified": person.email_verified,
        "phone_number_verified": person.phone_number_verified,
        "created_at": utc(account.created_at),
        "updated_at": utc(account.updated_at),
        "last_login_at": utc(person.last_login_at),
    }


def tokens(issued: Tokens) -> dict[str, Any]:
    return {
        "access_token": issued.access_token,
        "refresh_token": issued.refresh_token,
        "expires_in": issued.expires_in,
    }


def login(outcome: Login, *, message: str, status: int = 200) -> HttpResponse:
    """Any outcome of the door as JSON."""
    if outcome.challenges:
        return answer(_challenge(outcome))
    if outcome.tokens is None:
        return answer({"user": user(outcome.person), "message": VERIFY_FIRST}, status=status)
    body = {**tokens(outcome.tokens), "user": user(outcome.person), "message": message}
    for extras in plugs("login_extras"):
        body.setdefault("data", {}).update(extras(outcome.person))
    response = answer(body, status=status)
    _hand_out_device(response, outcome.device_token)
    return response


def accepted() -> HttpResponse:
    """A sign-up that tells nobody whether the address was taken."""
    return answer({"message": WRITTEN}, status=201)


def _challenge(outcome: Login) -> dict[str, Any]:
    person = outcome.person
    return {
        "user": {"id": person.id, "email": person.email},
        "challenges": [asdict(challenge) for challenge in outcome.challenges],
        "message": CHALLENGED,
    }


def _hand_out_device(response: HttpResponse, token: str) -> None:
    response.headers["X-Device-Token"] = token
    cookies.put(response, DEVICE_COOKIE, token, ttl=devices.TTL)
