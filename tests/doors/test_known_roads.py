"""No road to tokens stays out of the matrix: the URLconf is walked, and what each route of it says
of its answers decides. That no answer holds more than it says, the whole suite sees to."""

from typing import Any

from authservice.openapi.document import describe
from authservice.openapi.routes import routes
from tests.doors.roads import ROADS

# They send a browser on, and never with tokens.
NO_TOKENS = {"GET verify-email"}


def test_every_route_that_may_yield_tokens_is_in_the_matrix(world):
    assert entrances() - NO_TOKENS == {road.route for road in ROADS}


def test_every_route_of_the_service_says_what_it_answers(world):
    silent = {f"{route.method} {route.path}" for route in routes() if route.operation is None}

    assert silent == {"get /openapi.json", "get /docs", "get /redoc"} & silent


def entrances() -> set[str]:
    """Routes whose answers may hold a token, or lead somewhere."""
    document = describe()
    return {
        f"{method.upper()} {path.removeprefix('/')}"
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if "302" in operation["responses"] or holds(document, operation["responses"])
    }


def holds(document: Any, entry: Any, *, seen: frozenset[str] = frozenset()) -> bool:
    """Whether a schema, however deep, has an access token."""
    if isinstance(entry, list):
        return any(holds(document, part, seen=seen) for part in entry)
    if not isinstance(entry, dict):
        return False
    if "access_token" in entry.get("properties", {}):
        return True
    name = entry.get("$ref", "")
    if name and name not in seen:
        found = document
        for step in name.removeprefix("#/").split("/"):
            found = found[step]
        if holds(document, found, seen=seen | {name}):
            return True
    return any(holds(document, part, seen=seen) for part in entry.values())
