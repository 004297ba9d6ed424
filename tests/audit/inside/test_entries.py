"""The contents of an entry: actor, client and changes; client input is only data."""

import json
import re
from datetime import UTC, datetime

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from authservice.audit import writer
from authservice.audit.models import Entry
from authservice.kernel.client import Client
from authservice.kernel.clock import least_uuid7
from authservice.kernel.events import Event
from tests.audit.world import ANN, metadata
from tests.support.flows import OTHER_PHONE, PHONE
from tests.support.people import the_user

pytestmark = pytest.mark.django_db

OWN = {"username": "anna", "email": "eve@example.com"}
EVIL = (
    "one\r\nSet-Cookie: a=b",
    "\x1b[31mred\x1b[0m\x07",
    '{"action":"auth.login.success"}',
    '"],"request_id":"forged',
    "' OR 1=1 --",
    "<script>alert(1)</script>",
    "\x85\x9b2J",
    "a" * 10_000,
)


def only():
    return Entry.objects.get()


def test_entry_of_a_change_has_old_and_new_values(world):
    world.as_ann("PUT", "profile", name="Ann Cee", phone=OTHER_PHONE)

    entries = world.entries()
    assert entries
    for entry in entries:
        changes = metadata(entry)
        assert changes["name"] == {"before": "", "after": "Ann Cee"}
        assert changes["phone_number"] == {"before": PHONE, "after": OTHER_PHONE}


def test_entry_of_a_refused_login_has_the_reason(world):
    world.log_in(password="wrong")

    assert metadata(only())["reason"] == "invalid_credentials"
    assert only().details == "A login was refused: invalid_credentials."


def test_entry_of_a_login_has_the_method(world):
    world.log_in()

    assert metadata(world.entries()[-1])["method"] == "password"


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("PUT", "profile", "profile"),
        ("PATCH", "profile", "profile"),
        ("POST", "2fa/setup", "2fa_setup"),
        ("PUT", "change-username", "change_username"),
        ("POST", "change-email", "change_email"),
    ],
)
def test_entry_of_a_wrong_password_in_a_session_names_the_route(world, method, path, name):
    world.forget()

    for _ in range(5):
        answer = world.as_ann(method, path, password="wrong", **OWN)
        assert answer.error == (401, "INVALID_CREDENTIALS")

    assert world.log() == ["auth.reauthentication.failed ann"] * 5
    assert {metadata(entry)["method"] for entry in world.entries()} == {name}


def test_entry_has_the_request_id_of_the_client(world):
    world.log_in(headers={"X-Request-ID": "from-the-proxy.1"})

    assert {metadata(entry)["request_id"] for entry in world.entries()} == {"from-the-proxy.1"}


def test_entry_id_contains_the_creation_time(world):
    world.log_in()

    entries = world.entries()
    assert entries
    for entry in entries:
        assert entry.pk.version == 7
        moment = entry.created_at
        moment = timezone.make_aware(moment) if timezone.is_naive(moment) else moment
        assert least_uuid7(moment).int >> 64 == entry.pk.int >> 64


@pytest.mark.parametrize("agent", EVIL, ids=range(len(EVIL)))
def test_entry_stores_user_agent_as_plain_data(world, agent):
    root = world.root
    world.log_in(password="wrong", headers={"User-Agent": agent})

    (row,) = root.ask("GET", "admin/audit?action=auth.login.failed").data["list"]

    assert row["action"] == "auth.login.failed"
    assert len(row["user_agent"]) <= 512
    assert not re.search(r"[\x00-\x1f\x7f-\x9f]", row["user_agent"])
    assert set(json.loads(row["metadata"])) == {"request_id", "reason", "method"}


@pytest.mark.parametrize("text", EVIL, ids=range(len(EVIL)))
def test_entry_metadata_is_one_line_of_ascii_json(db, text):
    writer.write(Event(action="auth.signup", metadata={"name": {"after": text}, text: [text]}))

    stored = only().metadata

    assert re.fullmatch(r"[ -~]+", stored)
    assert json.loads(stored)["name"]["after"] == text[: writer.TEXT]


def test_entry_texts_are_truncated(db):
    client = Client(user_agent="a" * 10_000)
    writer.write(Event(action="auth.signup", client=client, metadata={"name": "a" * 10_000}))

    assert len(only().user_agent) == 512
    assert len(metadata(only())["name"]) == writer.TEXT


def test_entry_metadata_that_is_not_json_is_stored_as_text(db):
    user = get_user_model()(username="eve") if hasattr(get_user_model(), "username") else object()
    writer.write(Event(action="auth.signup", metadata={"what": user, "set": {1}}))

    assert metadata(only())["what"] == str(user)
    assert metadata(only())["set"] == [1]


def test_entry_has_the_type_of_a_target_that_is_not_a_user(world):
    writer.write(Event(action="org.updated", user=the_user(ANN), target=Entry(pk=least_of_all())))

    assert (only().target_type, only().target_id) == ("entry", str(least_of_all()))


def least_of_all():
    return least_uuid7(datetime(1970, 1, 1, tzinfo=UTC))


def test_excluded_action_writes_no_entry(world):
    world.configure(AUDIT={"EXCLUDE": ["auth.logout"]})
    world.as_ann("POST", "logout")

    assert world.log() == []
