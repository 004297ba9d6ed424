"""A host's own description, made by drf-spectacular, holds our routes beside its own."""

import pytest
import yaml
from django.conf import settings
from django.core.management import call_command
from django.test import Client
from drf_spectacular.validation import validate_schema

from tests.routes import routes

pytestmark = pytest.mark.skipif(
    settings.ROOT_URLCONF != "tests.hosts.spectacular.urls",
    reason="this host does not describe its own API",
)


@pytest.fixture(scope="module")
def document():
    return yaml.safe_load(Client().get("/schema/").content)


def test_it_is_in_the_version_the_host_wants(document):
    assert document["openapi"] == settings.SPECTACULAR_SETTINGS["OAS_VERSION"]


def test_it_is_valid_by_the_schema_of_that_version(document):
    validate_schema(document)


def test_it_has_every_route_of_ours_below_the_mount(document):
    ours = [operations for path, operations in document["paths"].items() if path[:6] == "/auth/"]

    assert sum(len(operations) for operations in ours) == len(routes())


def test_it_has_the_hosts_own_beside_them(document):
    assert set(document["paths"]) - {
        path for path in document["paths"] if path[:6] == "/auth/"
    } == {
        "/me/",
        "/schema/",
    }


def test_no_component_of_ours_takes_the_place_of_one_of_the_hosts(document):
    schemas = document["components"]["schemas"]

    assert set(schemas["User"]["properties"]) == {"shoe_size"}
    assert "email" in schemas["AuthUser"]["properties"]


def test_no_two_operations_have_the_same_id(document):
    ids = [
        operation["operationId"]
        for operations in document["paths"].values()
        for operation in operations.values()
    ]

    assert len(set(ids)) == len(ids)


def test_each_of_ours_names_the_token_it_wants(document):
    assert document["paths"]["/auth/me"]["get"]["security"] == [{"AuthBearer": []}]
    assert document["components"]["securitySchemes"]["AuthBearer"]["scheme"] == "bearer"


def test_no_reference_leads_nowhere(document):
    def references(node):
        if isinstance(node, dict):
            if isinstance(node.get("$ref"), str):
                yield node["$ref"]
            for entry in node.values():
                yield from references(entry)
        elif isinstance(node, list):
            for entry in node:
                yield from references(entry)

    for reference in references(document):
        found = document
        for step in reference.removeprefix("#/").split("/"):
            found = found[step]


def test_the_host_is_warned_of_nothing_of_ours(tmp_path):
    call_command("spectacular", "--fail-on-warn", "--file", str(tmp_path / "schema.yaml"))
