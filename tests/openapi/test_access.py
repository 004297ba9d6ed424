"""Who may read the description and its pages, and in which form they come."""

import json

import pytest
import yaml
from django.contrib.auth import get_user_model
from django.test import RequestFactory

from authservice.core.models import Account
from authservice.openapi.dialect import as_3_0
from authservice.openapi.document import describe, text
from authservice.openapi.views import Json

pytestmark = pytest.mark.django_db

DESCRIPTIONS = ["openapi.yaml", "openapi.json"]
PAGES = ["docs", "redoc"]
ASSETS = ["docs/swagger-ui.css", "docs/redoc.standalone.js", "docs/redoc-start.js"]


@pytest.fixture
def closed(configure):
    configure(OPENAPI={"ACCESS": "super_admins"})


@pytest.mark.parametrize("path", [*DESCRIPTIONS, *PAGES, *ASSETS])
def test_everybody_may_read(api, path):
    assert api.get(path).status == 200


def test_both_forms_say_the_same(api):
    as_yaml, as_json = (api.get(path).response.content for path in DESCRIPTIONS)

    assert yaml.safe_load(as_yaml) == json.loads(as_json) == describe()


def test_it_is_written_once_until_a_setting_changes(configure):
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
    def test_a_stranger_may_not(self, api, path):
        assert api.get(path).error == (401, "UNAUTHORIZED")

    def test_a_user_may_not(self, api, path):
        assert api.get(path, token=api.sign_up()["access_token"]).error == (403, "FORBIDDEN")

    def test_a_super_admin_may(self, api, path):
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
def test_of_those_signed_in_to_django_admin_a_superuser_may(flags, status):
    request = RequestFactory().get("/auth/openapi.json")
    request.user = get_user_model()(**flags)

    assert Json.as_view({"get": "fetch"})(request).status_code == status


@pytest.mark.parametrize("path", [*PAGES, *ASSETS])
def test_pages_can_be_left_out(api, configure, path):
    configure(OPENAPI={"PAGES": False})

    assert api.get(path).error == (404, "NOT_FOUND")


def test_the_description_stays_without_its_pages(api, configure):
    configure(OPENAPI={"PAGES": False})

    assert [api.get(path).status for path in DESCRIPTIONS] == [200, 200]


@pytest.mark.parametrize("name", ["nothing.js", "..%2f..%2fviews.py", "swagger-ui-dist", "%00"])
def test_no_other_file_is_served(api, name):
    assert api.get(f"docs/{name}").error == (404, "NOT_FOUND")


@pytest.mark.parametrize("path", PAGES)
def test_a_pages_policy_lets_nothing_in_from_elsewhere(api, path):
    policy = api.get(path).headers["Content-Security-Policy"]

    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "http" not in policy


def test_a_title_is_text_and_no_markup(api, configure):
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
        # Fields that happen to be called like keywords.
        (
            {"properties": {"type": {"type": "string"}}},
            {"properties": {"type": {"type": "string"}}},
        ),
        ({"properties": {"const": {"const": "a"}}}, {"properties": {"const": {"enum": ["a"]}}}),
    ],
)
def test_a_schema_is_told_in_the_older_dialect(schema, older):
    assert as_3_0(schema) == older
