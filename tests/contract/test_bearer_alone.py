"""An access token alone never becomes a refresh token where the project forbids it.

Every route whose description has a `refresh_token` in its success response is called with a bearer
token and nothing else that is secret. `tests/organization/inside/test_continued_sessions.py` has
the invitations, whose token is a secret too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps

from authservice.openapi.document import describe
from tests.contract.test_ended_sessions import REQUESTS, World, _messenger, world  # noqa: F401
from tests.support.routes import protected

MODULES = ("organization", "invitation", "twofactor", "magiclink")

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(
        not all(apps.is_installed(f"authservice.{name}") for name in MODULES),
        reason=f"routes of {', '.join(MODULES)} answer refresh tokens",
    ),
]


def answering_tokens() -> list[tuple[str, str]]:
    """Method and path of the described operations that answer a refresh token."""
    document = describe()
    return sorted(
        (method.upper(), path)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        for status, response in operation["responses"].items()
        if status.startswith("2") and "refresh_token" in set(_names(document, response))
    )


def _names(document: dict[str, Any], schema: Any, seen: frozenset[str] = frozenset()) -> Iterator:
    """The names of all properties in a schema, with those of its components."""
    if isinstance(schema, list):
        for part in schema:
            yield from _names(document, part, seen)
    if not isinstance(schema, dict):
        return
    reference = schema.get("$ref")
    if reference and reference not in seen:
        found: Any = document
        for step in reference.removeprefix("#/").split("/"):
            found = found[step]
        yield from _names(document, found, seen | {reference})
    yield from schema.get("properties", ())
    for part in schema.values():
        yield from _names(document, part, seen)


ANSWERING = answering_tokens() if apps.is_installed("authservice.organization") else []


def test_description_names_the_routes_that_answer_a_refresh_token():
    names = {f"{method} {path}" for method, path in ANSWERING}

    assert {
        *("POST /login", "POST /signup", "POST /refresh", "POST /org/switch"),
        *("POST /invitations/accept", "POST /org/invitations/accept", "POST /2fa/verify-login"),
        *("GET /magic-link/verify", "POST /magic-link/verify-code"),
    } <= names


@pytest.mark.parametrize(("method", "path"), ANSWERING)
def test_bearer_token_alone_gets_no_refresh_token(world: World, method: str, path: str):  # noqa: F811
    world.configure(ORGANIZATION={"SWITCH_REQUIRES_REFRESH_TOKEN": True})
    route = f"{method} {path.removeprefix('/')}"
    sent, body = REQUESTS.get(route, lambda _: (path.removeprefix("/"), {}))(world)

    answer = world.api.request(method, sent, body, token=world.ann.token)

    assert '"refresh_token":' not in answer.response.content.decode()
    if route in {str(protected_route) for protected_route in protected()}:
        assert answer.status == 200, answer.body
