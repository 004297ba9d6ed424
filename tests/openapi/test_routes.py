"""Every route is described, with a unique operation id. The whole suite checks the responses:
tests/support/described.py compares each response with the description."""

import json
import re
from collections import Counter

import pytest
import yaml
from drf_spectacular.validation import validate_schema

from authservice.openapi.document import describe
from authservice.openapi.routes import SECTIONS, routes
from authservice.organization.roles import table
from tests.csrf.installed import installed
from tests.openapi.whole import FILE
from tests.support.routes import routes as mounted

VERBS = {
    *("accept", "add", "cancel", "change", "check", "clean", "complete", "confirm", "create"),
    *("decline", "delete", "disable", "enable", "end", "exchange", "export", "get", "invite"),
    *("issue", "link", "list"),
    *("log", "patch", "reactivate", "refresh", "remove", "renew", "request", "resend", "reset"),
    *("secure", "send", "set", "show", "sign", "start", "step", "suspend", "switch", "unlink"),
    *("update", "verify", "follow"),
}


@pytest.fixture(scope="module")
def document():
    return describe()


@pytest.fixture(scope="module")
def whole():
    """The published description, which has every module."""
    return yaml.load(FILE.read_text(), Loader=yaml.CSafeLoader)


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
    assert [tag["name"] for tag in document["tags"]] == [one.name for one in SECTIONS]
    assert all(tag["description"] for tag in document["tags"])


def test_each_path_of_a_section_is_a_route():
    document = yaml.load(FILE.read_text(), Loader=yaml.CSafeLoader)
    listed = [path for section in SECTIONS for path in section.paths]

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
    configure(COOKIES={"ENABLED": True})
    with installed():
        document = describe()

    assert document["paths"]["/me"]["get"]["security"] == [{"bearer": []}, {"cookie": []}]
    assert document["paths"]["/logout"]["post"]["security"] == [{"bearer": []}, {"cookie": []}]
    assert document["paths"]["/login"]["post"]["security"] == []


def test_guards_are_header_parameters_and_no_security_schemes(configure):
    """A generated client sends the access token by each security scheme."""
    configure(CSRF={"HEADER_NAME": "X-Guard"})
    with installed():
        guarded, unguarded = describe(), describe(guards=False)
    header = {
        "name": "X-Guard",
        "in": "header",
        "description": "Every client must send it. Obtained from `GET /csrf-token`.",
        "schema": {"type": "string"},
    }

    assert guarded["paths"]["/login"]["post"]["parameters"] == [header]
    assert "parameters" not in guarded["paths"]["/me"]["get"]
    assert guarded["components"]["securitySchemes"].keys() == {"bearer"}
    assert "X-Guard" not in json.dumps(unguarded)
    assert "INVALID_CSRF" in codes(guarded, "LogInErrorCode")
    assert "INVALID_CSRF" not in codes(unguarded, "LogInErrorCode")


def test_operation_has_one_parameter_of_a_name(whole):
    """Client generators make one argument of each, wherever it is sent."""
    assert [
        (operation["operationId"], name)
        for operation in operations(whole)
        for name, count in Counter(one["name"] for one in operation["parameters"]).items()
        if count > 1
    ] == []


def test_operation_ids_are_verb_and_noun(whole):
    ids = [operation["operationId"] for operation in operations(whole)]
    words = {id: re.findall("^[a-z]+|[A-Z][a-z]+", id) for id in ids}

    assert [id for id in ids if words[id][0] not in VERBS or len(words[id]) < 2] == []


def test_schemas_have_no_identifiers_of_another_type(whole):
    """An id of an answer is the id of a request: generated clients have one type for both."""
    assert "uuid" not in {node.get("format") for node in nodes(whole)}


def test_object_of_optional_fields_has_no_alternatives(whole):
    """Client generators make a type with one field of each entry of `anyOf` beside properties."""
    assert [
        node for node in nodes(whole) if "properties" in node and {"anyOf", "oneOf"} & node.keys()
    ] == []
    bodies = {one["operationId"]: body(one) for one in operations(whole) if "requestBody" in one}
    assert {id for id, schema in bodies.items() if schema.get("minProperties") == 1} == {
        "updateOrganization",
        "updateUser",
    }


def test_no_property_has_the_name_of_its_schema(whole):
    """openapi-python-client makes a variable of both."""
    assert [
        name
        for name, schema in whole["components"]["schemas"].items()
        if re.sub("(?<=.)([A-Z])", r"_\1", name).lower() in schema.get("properties", {})
    ] == []


def test_refusals_have_one_schema_and_the_codes_of_their_operation(whole):
    shared = whole["components"]["responses"]
    for operation in operations(whole):
        name = operation["operationId"]
        own = f"{name[0].upper()}{name[1:]}ErrorCode"
        described = set()
        for status, response in operation["responses"].items():
            if int(status) < 400:
                continue
            resolved = (
                shared[response["$ref"].rpartition("/")[2]] if "$ref" in response else response
            )
            schema = resolved["content"]["application/json"]["schema"]
            assert schema["allOf"] == [{"$ref": "#/components/schemas/Refusal"}]
            reference, listed = schema["properties"]["data"]["properties"]["code"]["allOf"]
            enum = "ErrorCode" if "$ref" in response else own
            assert reference == {"$ref": f"#/components/schemas/{enum}"}
            described |= set(listed["enum"])
        assert described == set(codes(whole, own))


def test_roles_are_one_enum_in_requests_and_answers(whole):
    schemas, reference = whole["components"]["schemas"], {"$ref": "#/components/schemas/Role"}
    role = [node["role"] for node in nodes(whole) if isinstance(node.get("role"), dict)]

    assert schemas["Role"]["enum"] == list(table())
    assert len(role) > 3
    assert [one for one in role if one != reference and one.get("allOf") != [reference]] == []


def codes(document, name):
    return document["components"]["schemas"][name]["enum"]


def operations(document):
    return [
        {"parameters": [], **operation}
        for item in document["paths"].values()
        for operation in item.values()
    ]


def body(operation):
    return operation["requestBody"]["content"]["application/json"]["schema"]


def nodes(node):
    """Every object of the document."""
    if isinstance(node, list):
        return [inner for entry in node for inner in nodes(entry)]
    if not isinstance(node, dict):
        return []
    return [node, *(inner for entry in node.values() for inner in nodes(entry))]


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
