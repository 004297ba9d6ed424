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
from authservice.kernel.events import Event
from authservice.kernel.uuid7 import least
from tests.audit.world import ANN, metadata
from tests.people import the_user
from tests.recovery.flows import OTHER_PHONE, PHONE

pytestmark = pytest.mark.django_db

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


def test_a_change_says_what_was_and_what_is(world):
    world.as_ann("PUT", "profile", name="Ann Cee", phone=OTHER_PHONE)

    for entry in world.entries():
        told = metadata(entry)
        assert told["name"] == {"before": "", "after": "Ann Cee"}
        assert told["phone_number"] == {"before": PHONE, "after": OTHER_PHONE}


def test_a_refused_sign_in_says_why(world):
    world.log_in(password="wrong")

    assert metadata(only())["reason"] == "invalid_credentials"
    assert only().details == "A sign-in was refused: invalid_credentials."


def test_a_sign_in_says_by_which_road(world):
    world.log_in()

    assert metadata(world.entries()[-1])["method"] == "password"


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [("PUT", "profile", "profile"), ("POST", "2fa/setup", "2fa_setup")],
)
def test_each_wrong_password_of_a_session_yields_an_entry_that_names_the_route(
    world, method, path, name
):
    world.forget()

    for _ in range(5):
        answer = world.as_ann(method, path, password="wrong")
        assert answer.error == (401, "INVALID_CREDENTIALS")

    assert world.log() == ["auth.reauthentication.failed ann"] * 5
    assert {metadata(entry)["method"] for entry in world.entries()} == {name}


def test_the_clients_own_request_id_is_kept(world):
    world.log_in(headers={"X-Request-ID": "from-the-proxy.1"})

    assert {metadata(entry)["request_id"] for entry in world.entries()} == {"from-the-proxy.1"}


def test_an_id_is_of_the_moment_that_the_entry_says(world):
    world.log_in()

    for entry in world.entries():
        assert entry.pk.version == 7
        moment = entry.created_at
        moment = timezone.make_aware(moment) if timezone.is_naive(moment) else moment
        assert least(moment).int >> 64 == entry.pk.int >> 64


@pytest.mark.parametrize("agent", EVIL, ids=range(len(EVIL)))
def test_what_an_agent_calls_itself_is_data(world, agent):
    root = world.root
    world.log_in(password="wrong", headers={"User-Agent": agent})

    (row,) = root.ask("GET", "admin/audit?action=auth.login.failed").data["list"]

    assert row["action"] == "auth.login.failed"
    assert len(row["user_agent"]) <= 512
    assert not re.search(r"[\x00-\x1f\x7f-\x9f]", row["user_agent"])
    assert set(json.loads(row["metadata"])) == {"request_id", "reason", "method"}


@pytest.mark.parametrize("text", EVIL, ids=range(len(EVIL)))
def test_whatever_is_told_is_one_line_of_json(db, text):
    writer.write(Event(action="auth.signup", metadata={"name": {"after": text}, text: [text]}))

    stored = only().metadata

    assert re.fullmatch(r"[ -~]+", stored)
    assert json.loads(stored)["name"]["after"] == text[: writer.TEXT]


def test_texts_beyond_all_measure_are_cut(db):
    client = Client(user_agent="a" * 10_000)
    writer.write(Event(action="auth.signup", client=client, metadata={"name": "a" * 10_000}))

    assert len(only().user_agent) == 512
    assert len(metadata(only())["name"]) == writer.TEXT


def test_what_is_not_json_is_told_as_text(db):
    user = get_user_model()(username="eve") if hasattr(get_user_model(), "username") else object()
    writer.write(Event(action="auth.signup", metadata={"what": user, "set": {1}}))

    assert metadata(only())["what"] == str(user)
    assert metadata(only())["set"] == [1]


def test_a_target_that_is_no_user_says_what_it_is(world):
    writer.write(Event(action="org.updated", user=the_user(ANN), target=Entry(pk=least_of_all())))

    assert (only().target_type, only().target_id) == ("entry", str(least_of_all()))


def least_of_all():
    return least(datetime(1970, 1, 1, tzinfo=UTC))


def test_what_is_excluded_is_not_kept(world):
    world.configure(AUDIT={"EXCLUDE": ["auth.logout"]})
    world.as_ann("POST", "logout")

    assert world.log() == []
