"""The links of the description: from answers with the id of a row to the requests that take it."""

import re

import pytest
import yaml

from authservice.openapi.document import _LINKED
from tests.openapi.whole import FILE

ENOUGH = 150
EXPRESSION = re.compile(r"\$response\.body#((?:/\w+)+)")


@pytest.fixture(scope="module")
def document():
    return yaml.load(FILE.read_text(), Loader=yaml.CSafeLoader)


@pytest.fixture(scope="module")
def targets(document):
    """The path of each operation, and the operation, by its id."""
    return {
        operation["operationId"]: (path, operation)
        for path, item in document["paths"].items()
        for operation in item.values()
    }


@pytest.fixture(scope="module")
def linked(targets):
    """Each link: its source, the response that has it, and the link."""
    return [
        (source, response, link)
        for source, (_, operation) in targets.items()
        for response in operation["responses"].values()
        for link in response.get("links", {}).values()
    ]


def values(link):
    """The expressions of a link, by the name of the parameter or field."""
    return {**link.get("parameters", {}), **link.get("requestBody", {})}


def alternatives(schema, document):
    """The schemas that a value may have."""
    if "$ref" in schema:
        yield from alternatives(found(schema, document), document)
        return
    several = [*schema.get("oneOf", ()), *schema.get("anyOf", ()), *schema.get("allOf", ())]
    for one in several:
        yield from alternatives(one, document)
    if not several:
        yield schema


def found(schema, document):
    return document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]


def at(pointer, schema, document):
    """The schemas of the values at a JSON pointer."""
    schemas = [schema]
    for step in pointer.strip("/").split("/"):
        plain = [one for entry in schemas for one in alternatives(entry, document)]
        if step == "0":
            schemas = [one["items"] for one in plain if "items" in one]
        else:
            schemas = [
                one["properties"][step] for one in plain if step in one.get("properties", ())
            ]
    return [one for entry in schemas for one in alternatives(entry, document)]


def fields(operation):
    """The names of the fields of a JSON body."""
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    return {
        name for one in [schema, *schema.get("oneOf", ())] for name in one.get("properties", ())
    }


def test_description_has_many_links(linked):
    assert len(linked) >= ENOUGH


def test_targets_of_links_are_other_operations(linked, targets):
    assert [
        (source, link)
        for source, _, link in linked
        if link["operationId"] not in {*targets} - {source}
    ] == []


def test_links_give_each_parameter_of_the_path_and_no_unknown_one(linked, targets):
    for source, _, link in linked:
        path, target = targets[link["operationId"]]
        assert set(link.get("parameters", ())) == set(re.findall("{(.*?)}", path)), (source, link)
        assert set(link.get("requestBody", ())) <= fields(target), (source, link)
        assert values(link), (source, link)


def test_expressions_of_links_are_texts_of_the_answer(linked, document):
    for source, response, link in linked:
        schema = response["content"]["application/json"]["schema"]
        for expression in values(link).values():
            pointer = EXPRESSION.fullmatch(expression)[1]
            assert "string" in {one.get("type") for one in at(pointer, schema, document)}, (
                source,
                link,
            )


@pytest.mark.parametrize(
    ("creates", "takes"),
    [
        ("createOrganization", {"getOrganization", "inviteMember", "switchOrganization"}),
        ("inviteMember", {"cancelOrgInvitation", "resendOrgInvitation"}),
        ("createInvitation", {"cancelInvitation", "resendInvitation"}),
        ("createUser", {"getUser", "suspendUser", "listUserAuditEntries"}),
        ("acceptOrgInvitation", {"getMember", "getOrganization", "refreshTokens"}),
        ("signUp", {"refreshTokens", "verifyLogin"}),
    ],
)
def test_operation_that_creates_something_links_to_those_that_take_its_id(linked, creates, takes):
    assert {link["operationId"] for source, _, link in linked if source == creates} >= takes


def test_each_path_of_a_link_is_a_route(document):
    """A renamed route would lose its links."""
    listed = {values.path for entries in _LINKED.values() for values in entries}

    assert listed - set(document["paths"]) == set()


def test_each_type_with_links_is_a_schema(document):
    assert set(_LINKED) - set(document["components"]["schemas"]) == set()
