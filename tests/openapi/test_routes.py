"""Every route is described, with a unique operation id. The whole suite checks the responses:
tests/support/described.py compares each response with the description."""

from collections import Counter

import pytest
import yaml
from drf_spectacular.validation import validate_schema

from authservice.openapi import sections
from authservice.openapi.document import describe
from authservice.openapi.routes import routes
from tests.csrf.installed import installed
from tests.openapi.whole import FILE
from tests.support.routes import routes as mounted


@pytest.fixture(scope="module")
def document():
    return describe()


def test_every_route_declares_its_operation():
    assert [f"{route.method} {route.path}" for route in routes() if not route.operation] == []


def test_description_has_every_route_except_its_own(document):
    described = sum(len(operations) for operations in document["paths"].values())
    own = [route for route in routes() if route.describes_itself]

    assert len(own) == 5
    assert described == len(mounted()) - len(own)


def test_description_has_the_routes_in_the_order_of_use():
    """In the description of all modules, whose tags are sections with a text."""
    document = yaml.load(FILE.read_text(), Loader=yaml.CSafeLoader)
    paths = list(document["paths"])
    first = ["/signup", "/verify-email", "/login", "/2fa/verify-login", "/refresh", "/me"]
    then = ["/profile", "/change-password", "/sessions", "/org", "/admin/users", "/csrf-token"]
    places = [paths.index(path) for path in (*first, *then)]

    assert places == sorted(places)
    assert [tag["name"] for tag in document["tags"]] == [one.name for one in sections.SECTIONS]
    assert all(tag["description"] for tag in document["tags"])


def test_each_path_of_a_section_is_a_route():
    document = yaml.load(FILE.read_text(), Loader=yaml.CSafeLoader)
    listed = [path for section in sections.SECTIONS for path in section.paths]

    assert [
        path
        for path in listed
        if not any(f"{one}/".startswith(f"{path}/") for one in document["paths"])
    ] == []


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
    public = {route.path for route in routes() if route.public and route.path in document["paths"]}

    assert public == {
        path
        for path, operations in document["paths"].items()
        for operation in operations.values()
        if "security" in operation and not requires_token(operation)
    }


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


def unions(node):
    """The lists of alternatives of all schemas of responses."""
    if isinstance(node, list):
        return [found for entry in node for found in unions(entry)]
    if not isinstance(node, dict):
        return []
    inner = [
        found for name, entry in node.items() if name != "requestBody" for found in unions(entry)
    ]
    several = [node[word] for word in ("anyOf", "oneOf") if isinstance(node.get(word), list)]
    objects = [[one for one in alternatives if "$ref" in one] for alternatives in several]
    return inner + [(node, found) for found in objects if len(found) > 1]


def test_responses_of_several_types_have_a_discriminator(document):
    schemas = document["components"]["schemas"]
    found = unions(document["paths"])

    assert found
    for union, alternatives in found:
        literals = {}
        for one in alternatives:
            fields = schemas[one["$ref"].rpartition("/")[2]]["properties"]
            literals.update(dict.fromkeys(fields["status"]["enum"], one["$ref"]))
        assert union["discriminator"] == {"propertyName": "status", "mapping": literals}
        assert len(literals) == len(alternatives)
