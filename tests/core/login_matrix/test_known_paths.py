"""The matrix contains every login path: each route of the URLconf whose documented responses may
contain tokens must be in it. The whole suite checks that responses match their documentation."""

from typing import Any

from authservice.openapi.document import describe
from authservice.openapi.routes import routes
from tests.core.login_matrix.login_paths import LOGIN_PATHS

# They redirect a browser, and never with tokens.
NO_TOKENS = {"GET verify-email", "GET change-email/confirm", "GET oauth/{provider}"}


def test_login_matrix_contains_every_route_that_may_return_tokens(world):
    assert token_routes() - NO_TOKENS == {path.route for path in LOGIN_PATHS}


def test_every_route_of_the_service_documents_its_responses(world):
    undocumented = {f"{route.method} {route.path}" for route in routes() if route.operation is None}

    assert undocumented == {"get /openapi.json", "get /docs", "get /redoc"} & undocumented


def token_routes() -> set[str]:
    """Routes whose responses may contain a token or are redirects."""
    document = describe()
    return {
        f"{method.upper()} {path.removeprefix('/')}"
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if "302" in operation["responses"] or contains_token(document, operation["responses"])
    }


def contains_token(document: Any, entry: Any, *, seen: frozenset[str] = frozenset()) -> bool:
    """Whether a schema contains an access token at any depth."""
    if isinstance(entry, list):
        return any(contains_token(document, part, seen=seen) for part in entry)
    if not isinstance(entry, dict):
        return False
    if "access_token" in entry.get("properties", {}):
        return True
    name = entry.get("$ref", "")
    if name and name not in seen:
        found = document
        for step in name.removeprefix("#/").split("/"):
            found = found[step]
        if contains_token(document, found, seen=seen | {name}):
            return True
    return any(contains_token(document, part, seen=seen) for part in entry.values())
