"""Access to the OpenAPI description and its pages, and their formats."""

import json

import pytest
import yaml
from django.contrib.auth import get_user_model
from django.test import RequestFactory

from authservice.core.models import Account
from authservice.openapi.as_text import text
from authservice.openapi.document import describe
from authservice.openapi.spectacular import as_3_0
from authservice.openapi.views import Json

pytestmark = pytest.mark.django_db

DESCRIPTIONS = ["openapi.yaml", "openapi.json"]
PAGES = ["docs", "redoc"]
ASSETS = ["docs/swagger-ui.css", "docs/redoc.standalone.js", "docs/redoc-start.js"]


@pytest.fixture
def closed(configure):
    configure(OPENAPI={"ACCESS": "super_admins"})


@pytest.mark.parametrize("path", [*DESCRIPTIONS, *PAGES, *ASSETS])
def test_description_is_public_by_default(api, path):
    assert api.get(path).status == 200


def test_yaml_and_json_descriptions_are_equal(api):
    as_yaml, as_json = (api.get(path).response.content for path in DESCRIPTIONS)

    assert yaml.safe_load(as_yaml) == json.loads(as_json) == describe()


def test_description_is_cached_until_a_setting_changes(configure):
    written = []

    def write(description):
        written.append(description)
        return description["info"]["title"]

    assert [text(write), text(write), len(written)] == [
        "Authentication API",
        "Authentication API",
        1,
    ]
    configure(OPENAPI={"TITLE": "Other"})
    assert [text(write), len(written)] == ["Other", 2]


@pytest.mark.usefixtures("closed")
@pytest.mark.parametrize("path", [*DESCRIPTIONS, *PAGES])
class TestClosed:
    def test_closed_description_without_token_is_unauthorized(self, api, path):
        assert api.get(path).error == (401, "UNAUTHORIZED")

    def test_closed_description_is_forbidden_for_users(self, api, path):
        assert api.get(path, token=api.sign_up()["access_token"]).error == (403, "FORBIDDEN")

    def test_closed_description_is_readable_by_super_admin(self, api, path):
        token = api.sign_up()["access_token"]
        Account.objects.update(is_super_admin=True)

        assert api.get(path, token=token).status == 200


@pytest.mark.usefixtures("closed")
@pytest.mark.parametrize(
    ("flags", "status"),
    [
        ({"is_superuser": True}, 200),
        ({"is_staff": True}, 401),
        ({"is_superuser": True, "is_active": False}, 401),
    ],
)
def test_closed_description_in_django_session_requires_superuser(flags, status):
    request = RequestFactory().get("/auth/openapi.json")
    request.user = get_user_model()(**flags)

    assert Json.as_view({"get": "fetch"})(request).status_code == status


@pytest.mark.parametrize("path", [*PAGES, *ASSETS])
def test_openapi_pages_can_be_disabled(api, configure, path):
    configure(OPENAPI={"PAGES": False})

    assert api.get(path).error == (404, "NOT_FOUND")


def test_description_is_served_with_disabled_pages(api, configure):
    configure(OPENAPI={"PAGES": False})

    assert [api.get(path).status for path in DESCRIPTIONS] == [200, 200]


@pytest.mark.parametrize("name", ["nothing.js", "..%2f..%2fviews.py", "swagger-ui-dist", "%00"])
def test_openapi_assets_serve_no_other_file(api, name):
    assert api.get(f"docs/{name}").error == (404, "NOT_FOUND")


@pytest.mark.parametrize("path", PAGES)
def test_openapi_page_csp_allows_no_other_origin(api, path):
    policy = api.get(path).headers["Content-Security-Policy"]

    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "http" not in policy


def test_openapi_page_escapes_the_title(api, configure):
    configure(OPENAPI={"TITLE": "</title><script>alert(1)</script>"})

    assert b"<script>alert" not in api.get("docs").response.content


@pytest.mark.parametrize(
    ("schema", "older"),
    [
        ({"type": ["string", "null"]}, {"type": "string", "nullable": True}),
        ({"type": ["string", "integer"]}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        ({"anyOf": [{"type": "null"}]}, {"anyOf": [{"nullable": True, "enum": [None]}]}),
        ({"const": "Bearer"}, {"enum": ["Bearer"]}),
        ({"required": [], "type": "object"}, {"type": "object"}),
        # Fields whose names are keywords of JSON Schema.
        (
            {"properties": {"type": {"type": "string"}}},
            {"properties": {"type": {"type": "string"}}},
        ),
        ({"properties": {"const": {"const": "a"}}}, {"properties": {"const": {"enum": ["a"]}}}),
    ],
)
def test_schema_is_converted_to_openapi_3_0(schema, older):
    assert as_3_0(schema) == older
