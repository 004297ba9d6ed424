"""Requests with the tokens of a session, and every action that ends a session."""

from authservice.core.models import Session
from authservice.core.sessions import revocation
from tests.support.people import the_user

REFUSED = (401, "INVALID_TOKEN")
UNAVAILABLE = (503, "SERVICE_UNAVAILABLE")
ENDS = {
    "logout": lambda api, tokens: api.post("logout", token=tokens["access_token"]),
    "its own revocation": lambda api, tokens: api.request(
        "DELETE", f"sessions/{current(api, tokens)}", token=tokens["access_token"]
    ),
    "a reused token": lambda api, tokens: reuse(api, tokens["refresh_token"]),
    "a revocation": lambda api, tokens: revocation.revoke_users([the_user()]),
    "the admin page": lambda api, tokens: revocation.revoke_one(
        Session.objects.get(), by=the_user()
    ),
}


def current(api, tokens):
    found = api.get("sessions", token=tokens["access_token"]).data
    return next(session["id"] for session in found if session["current"])


def reuse(api, token):
    for _ in range(2):
        api.post("refresh", refresh_token=token)


def me(api, tokens):
    return api.get("me", token=tokens["access_token"])


def refresh(api, tokens):
    return api.post("refresh", refresh_token=tokens["refresh_token"])
