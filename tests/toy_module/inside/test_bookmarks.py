"""The route, the error, the setting, the action, the check and the rows of a module."""

from io import StringIO

import pytest
from django.core.checks import run_checks
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from authservice.audit.models import Entry
from authservice.core.credentials import one_time
from authservice.core.users import lookup
from authservice.kernel import modules
from authservice.openapi import document
from authservice.testing import ApiClient
from tests.support.people import make_user, the_user
from tests.toy_module.bookmarks.models import Bookmark

pytestmark = pytest.mark.django_db

ADDRESS = "https://example.com/1"


@pytest.fixture
def ann():
    return ApiClient().log_in(make_user("ann@example.com"))


def add(client, address=ADDRESS):
    return client.post("bookmarks", address=address)


def refusal(answer):
    return answer.status, answer.code


def found(name):
    return [check for check in run_checks(tags=["authservice"]) if check.id == name]


def test_route_answers_in_the_envelope(ann):
    assert add(ann).status == 201
    assert ann.get("bookmarks").data == {"addresses": [ADDRESS]}


def test_route_needs_a_token_and_a_valid_body(ann):
    assert refusal(ApiClient().get("bookmarks")) == (401, "UNAUTHORIZED")
    assert refusal(add(ann, "no address")) == (400, "VALIDATION_ERROR")


def test_session_that_ended_changes_nothing(ann):
    ann.post("logout")

    assert refusal(add(ann)) == (401, "INVALID_TOKEN")


def test_routes_of_the_urlconf_answer_beside_those_of_the_views(ann, configure):
    configure(BOOKMARKS={"MOST": 7})

    assert ann.get("bookmarks/limit").data == 7
    assert Client().get(reverse("authservice:bookmarks-welcome")).content == b"Bookmarks"
    assert reverse("authservice:bookmarks") == "/auth/bookmarks"


def test_error_and_setting_are_those_of_the_module(ann, configure):
    configure(BOOKMARKS={"MOST": 1})
    add(ann)

    assert refusal(add(ann)) == (403, "TOO_MANY_BOOKMARKS")


def test_invalid_setting_is_reported_by_its_name(configure):
    configure(BOOKMARKS={"MOST": 0})

    [broken] = found("authservice.E006")
    assert "BOOKMARKS.MOST" in broken.msg


def test_check_is_reported_by_its_id(configure):
    assert found("bookmarks.W001") == []
    configure(BOOKMARKS={"MOST": 1001})

    assert len(found("bookmarks.W001")) == 1


def test_action_has_an_entry_in_the_audit_log(ann):
    add(ann)

    assert Entry.objects.filter(action="bookmark.added").count() == 1
    assert "bookmark.added" in modules.known_actions()


def test_description_has_the_route_with_its_error():
    [path] = [path for path in document.describe()["paths"] if path.endswith("bookmarks")]
    added = document.describe()["paths"][path]["post"]

    assert (added["summary"], added["operationId"]) == ("Add a bookmark", "createBookmarks")
    assert {"201", "400", "401", "403"} <= set(added["responses"])


def test_cleanup_deletes_what_expired(ann, clock):
    add(ann)
    clock.forward(days=31)
    call_command("authservice_cleanup", stdout=StringIO())

    assert not Bookmark.objects.exists()


def test_first_proof_of_the_address_by_somebody_else_removes_them(ann):
    add(ann)
    owner = lookup.get_person(the_user())
    token = one_time.issue_link(one_time.RESET, owner, owner.email_key).reveal()

    body = {"token": token, "email": owner.email, "new_password": "new horse battery 9"}
    answer = ApiClient().post("reset-password", **body)

    assert answer.status == 200
    assert not Bookmark.objects.exists()


def test_rows_go_with_their_user(ann):
    add(ann)
    the_user().delete()

    assert not Bookmark.objects.exists()
