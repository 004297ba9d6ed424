"""Every route is described, with a unique operation id. The whole suite checks the responses:
tests/support/described.py compares each response with the description."""

from collections import Counter

import pytest
from drf_spectacular.validation import validate_schema

from authservice.openapi.document import describe
from authservice.openapi.routes import routes
from tests.csrf.installed import installed
from tests.support.routes import routes as mounted


@pytest.fixture(scope="module")
def document():
    return describe()


def test_every_route_declares_its_operation():
    assert [f"{route.method} {route.path}" for route in routes() if not route.operation] == []


def test_description_has_every_route(document):
    described = sum(len(operations) for operations in document["paths"].values())

    assert described == len(mounted())


def test_operation_ids_are_unique(document):
    ids = [
        operation["operationId"]
        for operations in document["paths"].values()
        for operation in operations.values()
    ]

    assert [id for id, count in Counter(ids).items() if count > 1] == []


def test_description_is_valid_openapi(document):
    validate_schema(document)


def requires_token(operation):
    return any({"bearer", "cookie"} & set(asked) for asked in operation["security"])


def test_only_public_routes_are_described_without_token(document):
    public = {route.path for route in routes() if route.public and document["paths"][route.path]}

    assert public == {
        path
        for path, operations in document["paths"].items()
        for operation in operations.values()
        if "security" in operation and not requires_token(operation)
    }


def test_description_of_closed_routes_requires_super_admin(configure):
    configure(OPENAPI={"ACCESS": "super_admins"})

    schema = describe()["paths"]["/openapi.json"]["get"]

    assert "security" not in schema  # so the default of the document applies: a bearer token
    assert {"401", "403"} <= set(schema["responses"])


def test_description_with_cookies_accepts_cookie_or_bearer_token(configure):
    with installed():
        configure(COOKIES={"ENABLED": True})
        document = describe()

    assert document["paths"]["/me"]["get"]["security"] == [{"bearer": []}, {"cookie": []}]
    assert document["paths"]["/logout"]["post"]["security"] == [
        {"bearer": [], "guard": []},
        {"cookie": [], "guard": []},
    ]
    assert document["paths"]["/login"]["post"]["security"] == [{"guard": []}]
