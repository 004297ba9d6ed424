"""Every route is described, by a name of its own. That it answers as described is seen by the whole
suite: tests/described.py holds each answer against the description."""

from collections import Counter

import pytest
from drf_spectacular.validation import validate_schema

from authservice.openapi.document import describe
from authservice.openapi.routes import routes
from tests.csrf.installed import installed
from tests.routes import routes as mounted


@pytest.fixture(scope="module")
def document():
    return describe()


def test_every_route_says_what_it_takes_and_answers():
    assert [f"{route.method} {route.path}" for route in routes() if not route.operation] == []


def test_the_description_has_every_route_there_is(document):
    described = sum(len(operations) for operations in document["paths"].values())

    assert described == len(mounted())


def test_no_two_operations_have_the_same_id(document):
    ids = [
        operation["operationId"]
        for operations in document["paths"].values()
        for operation in operations.values()
    ]

    assert [id for id, count in Counter(ids).items() if count > 1] == []


def test_the_description_is_valid_by_the_schema_of_openapi(document):
    validate_schema(document)


def asks_for_a_token(operation):
    return any({"bearer", "cookie"} & set(asked) for asked in operation["security"])


def test_public_routes_and_no_others_need_no_token(document):
    public = {
        route.path for route in routes() if route.view.public and document["paths"][route.path]
    }

    assert public == {
        path
        for path, operations in document["paths"].items()
        for operation in operations.values()
        if "security" in operation and not asks_for_a_token(operation)
    }


def test_what_the_host_keeps_to_super_admins_is_described_so(configure):
    configure(OPENAPI={"ACCESS": "super_admins"})

    schema = describe()["paths"]["/openapi.json"]["get"]

    assert "security" not in schema  # the one of the whole document, then: a bearer token
    assert {"401", "403"} <= set(schema["responses"])


def test_where_tokens_are_kept_in_cookies_a_cookie_or_a_bearer_token_will_do(configure):
    with installed():
        configure(COOKIES={"ENABLED": True})
        document = describe()

    assert document["paths"]["/me"]["get"]["security"] == [{"bearer": []}, {"cookie": []}]
    assert document["paths"]["/logout"]["post"]["security"] == [
        {"bearer": [], "guard": []},
        {"cookie": [], "guard": []},
    ]
    assert document["paths"]["/login"]["post"]["security"] == [{"guard": []}]
