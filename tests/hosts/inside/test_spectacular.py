"""The OpenAPI description of a host with drf-spectacular includes the routes of authservice."""

import pytest
import yaml
from django.conf import settings
from django.core.management import call_command
from django.test import Client
from drf_spectacular.validation import validate_schema

from authservice.openapi.routes import routes
from tests.csrf.installed import installed

pytestmark = pytest.mark.skipif(
    settings.ROOT_URLCONF != "tests.hosts.spectacular.urls",
    reason="this host does not describe its own API",
)


@pytest.fixture(scope="module")
def document():
    return yaml.safe_load(Client().get("/schema/").content)


def test_description_has_the_version_of_the_host(document):
    assert document["openapi"] == settings.SPECTACULAR_SETTINGS["OAS_VERSION"]


def test_description_of_the_host_is_valid_openapi(document):
    validate_schema(document)


def test_description_of_the_host_has_every_route_of_authservice(document):
    ours = [operations for path, operations in document["paths"].items() if path[:6] == "/auth/"]

    described = [route for route in routes() if not route.describes_itself]
    assert sum(len(operations) for operations in ours) == len(described)


def test_description_of_the_host_keeps_its_own_routes(document):
    assert set(document["paths"]) - {
        path for path in document["paths"] if path[:6] == "/auth/"
    } == {
        "/me/",
        "/schema/",
    }


def test_component_of_authservice_does_not_replace_one_of_the_host(document):
    schemas = document["components"]["schemas"]

    assert set(schemas["User"]["properties"]) == {"shoe_size"}
    assert "email" in schemas["AuthUser"]["properties"]


def test_operation_ids_of_the_host_are_unique(document):
    ids = [
        operation["operationId"]
        for operations in document["paths"].values()
        for operation in operations.values()
    ]

    assert len(set(ids)) == len(ids)


def test_view_of_the_host_requires_the_token_that_it_checks(document):
    assert document["paths"]["/me/"]["get"]["security"] == [{"AuthBearer": []}]


def test_view_of_the_host_accepts_a_cookie_if_token_cookies_are_enabled(configure):
    configure(COOKIES={"ENABLED": True})
    with installed():
        document = yaml.safe_load(Client().get("/schema/").content)

    schemes = document["components"]["securitySchemes"]
    assert document["paths"]["/me/"]["get"]["security"] == [{"AuthBearer": []}, {"AuthCookie": []}]
    assert (schemes["AuthCookie"]["type"], schemes["AuthCookie"]["in"]) == ("apiKey", "cookie")


def test_operation_in_the_description_of_the_host_names_its_security(document):
    assert document["paths"]["/auth/me"]["get"]["security"] == [{"AuthBearer": []}]
    assert document["components"]["securitySchemes"]["AuthBearer"]["scheme"] == "bearer"


def test_references_in_the_description_of_the_host_resolve(document):
    def references(node):
        if isinstance(node, dict):
            if isinstance(node.get("$ref"), str):
                yield node["$ref"]
            if isinstance(node.get("discriminator"), dict):
                yield from node["discriminator"]["mapping"].values()
            for entry in node.values():
                yield from references(entry)
        elif isinstance(node, list):
            for entry in node:
                yield from references(entry)

    for reference in references(document):
        found = document
        for step in reference.removeprefix("#/").split("/"):
            found = found[step]


def test_spectacular_command_reports_no_warning(tmp_path):
    call_command("spectacular", "--fail-on-warn", "--file", str(tmp_path / "schema.yaml"))
