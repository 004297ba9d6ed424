"""The lists of entries: whose they are, how they are sorted, narrowed, paged and counted."""

from datetime import UTC, datetime, timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from authservice.audit import entries, log
from authservice.audit.models import Entry
from authservice.audit.topics import topic
from authservice.kernel.actions import ACTIONS, SEVERITIES
from authservice.kernel.events import Event
from authservice.kernel.ids import uuid7_of
from authservice.kernel.ports import Client
from tests.audit.world import ANN, BOB, metadata
from tests.people import the_user
from tests.recovery.statements import statements

pytestmark = pytest.mark.django_db

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
ELSEWHERE = Client(address="198.51.100.7", user_agent="Other/2", request_id="theirs")
FIELDS = {
    "id",
    "action",
    "actor_id",
    "actor_type",
    "target_id",
    "target_type",
    "severity",
    "details",
    "metadata",
    "ip_address",
    "user_agent",
    "created_at",
}
ALL = ("admin/audit", "admin/audit/users/{ann}", "admin/audit/actions/auth")
OWN = ("me/audit", "me/audit/logins", "me/audit/changes", "me/audit/security")


def keep(action, actor=None, target=None, *, at=None, **more):
    """An entry of a moment."""
    entry = entries._entry(Event(action=action, user=actor, target=target, **more))
    if at is not None:
        entry.id = uuid7_of(at)
        entry.created_at = at if settings.USE_TZ else timezone.make_naive(at)
    entry.save(force_insert=True)
    return entry


@pytest.fixture
def root(world):
    """The super admin is there already."""
    return world.root


@pytest.fixture
def ann(world):
    return the_user(ANN)


@pytest.fixture
def bob(world):
    return the_user(BOB)


@pytest.fixture
def ask(world):
    """`ask("me/audit", limit=5)` is the answer to Ann, or to Root where only she may ask."""

    def ask(path, **query):
        path = path.format(ann=world.ann_id)
        token = world.root.token if path.startswith("admin") else world.token
        text = "&".join(f"{name}={value}" for name, value in query.items())
        return world.api.get(f"{path}?{text}", token=token)

    return ask


@pytest.fixture
def listed(ask):
    """The rows that a list has."""
    return lambda path, **query: ask(path, **query).data["list"]


@pytest.fixture
def actions(listed):
    return lambda path, **query: [row["action"] for row in listed(path, **query)]


def test_an_entry_has_the_fields_of_the_interface(world, listed):
    world.log_in()

    assert set(listed("me/audit")[0]) == FIELDS


@pytest.mark.parametrize("path", [*ALL, *OWN])
def test_a_list_object_says_how_it_is_sorted_and_how_many_there_are(world, ask, path):
    data = ask(path).data

    assert set(data) == {"list", "sort_field", "sort_dir", "total"}
    assert (data["sort_field"], data["sort_dir"]) == ("created_at", "desc")


@pytest.mark.parametrize("path", [*ALL, *OWN])
@pytest.mark.parametrize("query", ["limit=0", "offset=-1", "sort_field=details", "sort_dir=up"])
def test_a_senseless_page_is_refused(world, ask, path, query):
    name, _, value = query.partition("=")

    assert ask(path, **{name: value}).error == (400, "VALIDATION_ERROR")


def test_more_than_a_hundred_is_a_hundred(world, ann, ask):
    for _ in range(101):
        keep("auth.logout", ann)

    assert [len(ask("me/audit", limit=n).data["list"]) for n in (100, 1000)] == [100, 100]


# Whose they are


def test_one_sees_what_one_did_and_what_was_done_to_one(world, ann, bob, actions):
    world.forget()
    keep("auth.logout", ann)
    keep("admin.user.updated", bob, ann, actor_type="admin")
    keep("user.profile.updated", bob)
    keep("security.session.revoked", None, ann, actor_type="system")

    assert actions("me/audit", sort_dir="asc") == [
        "auth.logout",
        "admin.user.updated",
        "security.session.revoked",
    ]


def test_a_deed_to_oneself_is_listed_once(world, ann, actions):
    world.forget()
    keep("admin.user.updated", ann, ann, actor_type="admin")

    assert actions("me/audit") == ["admin.user.updated"]


def test_an_entry_about_something_else_with_ones_own_id_is_not_ones_own(world, ann, actions):
    world.forget()
    entry = keep("org.updated", None, ann)
    Entry.objects.filter(pk=entry.pk).update(target_type="organization")

    assert actions("me/audit") == []


def test_where_somebody_else_was_stays_hidden_from_whom_it_was_done_to(world, ann, bob, listed):
    world.forget()
    keep("admin.user.updated", bob, ann, actor_type="admin", client=ELSEWHERE, metadata={"name": 1})

    (row,) = listed("me/audit")

    assert (row["ip_address"], row["user_agent"]) == ("", "")
    assert row["metadata"] == '{"request_id":"","name":1}'
    assert row["actor_id"] == str(bob.pk)


def test_super_admins_see_where_everybody_was(world, ann, bob, listed):
    world.forget()
    keep("admin.user.updated", bob, ann, actor_type="admin", client=ELSEWHERE)

    (row,) = listed("admin/audit/users/{ann}")

    assert (row["ip_address"], row["user_agent"]) == (ELSEWHERE.address, ELSEWHERE.user_agent)
    assert '"request_id":"theirs"' in row["metadata"]


def test_one_sees_from_where_strangers_tried_ones_password(world, listed):
    world.forget()
    world.log_in(password="wrong")

    (row,) = listed("me/audit/logins")

    assert (row["action"], row["ip_address"]) == ("auth.login.failed", "127.0.0.1")


@pytest.mark.parametrize(
    ("group", "stems"),
    [
        ("logins", ("auth.login.", "auth.logout", "auth.token.")),
        ("changes", ("user.",)),
        ("security", ("auth.2fa.", "auth.password.", "security.")),
    ],
)
def test_a_group_has_its_actions_and_no_others(world, ann, actions, group, stems):
    world.forget()
    for action in ACTIONS:
        keep(action, ann)

    wanted = {action for action in ACTIONS if action.startswith(stems)}
    assert set(actions(f"me/audit/{group}", limit=100)) == wanted
    assert {action for action in ACTIONS if topic(action) == group} == wanted


def test_the_log_of_a_user_is_what_they_did_and_what_was_done_to_them(world, ann, bob, actions):
    world.forget()
    keep("auth.logout", ann)
    keep("admin.user.updated", bob, ann)
    keep("auth.logout", bob)

    assert actions("admin/audit/users/{ann}") == ["admin.user.updated", "auth.logout"]


def test_the_log_of_somebody_deleted_is_still_there(world, actions):
    path = f"admin/audit/users/{world.ann_id}"
    world.root.delete(world.ann_id)

    assert actions(path)[0] == "admin.user.deleted"


def test_the_log_of_nobody_is_empty(world, ask):
    data = ask("admin/audit/users/nobody").data

    assert (data["list"], data["total"]) == ([], 0)


@pytest.mark.parametrize("path", ["users/%00", "users/a%0Ab", "users/" + "a" * 256])
def test_what_is_no_id_is_refused(world, ask, path):
    assert ask(f"admin/audit/{path}").error == (400, "VALIDATION_ERROR")


@pytest.mark.parametrize("path", ["actions/%00", "actions/*", "actions/.", "actions/%E2%80%AE"])
def test_an_odd_action_is_no_crash(world, ask, path):
    assert ask(f"admin/audit/{path}").status == 200


# Order


@pytest.mark.parametrize("path", [*ALL, "me/audit"])
@pytest.mark.parametrize("field", ["created_at", "action", "severity", "actor_id"])
@pytest.mark.parametrize("direction", ["asc", "desc"])
def test_every_order_holds_both_ways_over_all_pages(
    world, ann, bob, listed, path, field, direction
):
    world.forget()
    for number, action in enumerate(a for a in ACTIONS if a.startswith("auth.")):
        keep(action, [ann, bob, None][number % 3], [None, ann][number % 2], at=NOON)

    whole = listed(path, limit=100, sort_field=field, sort_dir=direction)
    pages = [
        listed(path, limit=3, offset=n, sort_field=field, sort_dir=direction)
        for n in range(0, len(whole) + 3, 3)
    ]

    keys = [(row[field], row["id"]) for row in whole]
    if field == "created_at":
        keys = [key[1] for key in keys]
    assert keys == sorted(keys, reverse=direction == "desc")
    assert [row["id"] for page in pages for row in page] == [row["id"] for row in whole]
    assert len(whole) > 4


def test_the_database_sorts_actions_as_everybody_does(world, ann, actions):
    world.forget()
    for action in reversed(ACTIONS):
        keep(action, ann)

    assert actions("me/audit", limit=100, sort_field="action", sort_dir="asc") == sorted(ACTIONS)


def test_entries_of_one_millisecond_stand_in_the_order_of_their_microseconds(world, ann, listed):
    world.forget()
    moments = [NOON + timedelta(microseconds=n) for n in range(0, 1000, 7)]
    for moment in reversed(moments):
        keep("auth.logout", ann, at=moment)

    told = [row["created_at"] for n in (0, 100) for row in listed("me/audit", limit=100, offset=n)]

    assert told == sorted(told, reverse=True)
    assert len(told) == len(moments)


# Narrowing


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("auth.password.reset", ["auth.password.reset"]),
        ("auth.password", ["auth.password.reset", "auth.password.reset_requested"]),
        ("auth.password.", ["auth.password.reset", "auth.password.reset_requested"]),
        ("auth.password.*", ["auth.password.reset", "auth.password.reset_requested"]),
        ("auth.password.res*", ["auth.password.reset", "auth.password.reset_requested"]),
        ("auth.log", []),
        ("auth.log*", ["auth.logout"]),
        ("auth", ["auth.logout", "auth.password.reset", "auth.password.reset_requested"]),
        ("%25", []),
        ("nothing", []),
    ],
)
def test_an_action_is_asked_for_by_its_name_or_by_what_it_begins_with(
    root, world, ann, actions, asked, found
):
    world.forget()
    for action in ("auth.logout", "auth.password.reset", "auth.password.reset_requested"):
        keep(action, ann)

    assert sorted(actions("admin/audit", action=asked)) == found
    assert sorted(actions(f"admin/audit/actions/{asked}")) == found


@pytest.mark.parametrize("path", ALL)
def test_every_filter_narrows_every_list_of_super_admins(root, world, ann, bob, listed, path):
    world.forget()
    kept = keep("auth.login.failed", ann, bob, at=NOON)
    keep("auth.logout", bob, ann, at=NOON - timedelta(hours=1))
    keep("auth.login.failed", ann, at=NOON + timedelta(hours=1))

    filters = {
        "action": "auth.login.failed",
        "severity": "warning",
        "actor_id": ann.pk,
        "target_id": bob.pk,
        "from": "2030-01-01T12:00:00Z",
        "to": "2030-01-01T12:00:00.000001Z",
    }
    for name, value in filters.items():
        rows = listed(path, **{name: value})
        assert str(kept.pk) in [row["id"] for row in rows], name
        assert len(rows) < 3 or path.endswith("actions/auth"), name
    assert [row["id"] for row in listed(path, **filters)] == [str(kept.pk)]


def test_the_beginning_of_a_time_is_included_and_its_end_is_not(root, world, listed):
    world.forget()
    kept = [keep("auth.logout", at=NOON + timedelta(microseconds=n)) for n in range(4)]
    begin, end = (f"2030-01-01T12:00:00.00000{n}Z" for n in (1, 3))

    rows = listed("admin/audit", **{"from": begin, "to": end})

    assert [row["id"] for row in rows] == [str(kept[2].pk), str(kept[1].pk)]


@pytest.mark.parametrize(
    "query", [{"severity": "bad"}, {"from": "soon"}, {"to": "0"}, {"action": "a" * 65}], ids=str
)
def test_a_senseless_filter_is_refused(world, ask, query):
    assert ask("admin/audit", **query).error == (400, "VALIDATION_ERROR")


def test_a_time_beyond_all_times_finds_nothing(world, listed):
    assert listed("admin/audit", **{"from": "9999-12-31T23:59:59Z"}) == []
    assert listed("admin/audit", **{"to": "0001-01-01"}) == []


# Totals


def test_the_total_is_exact_below_the_cap(world, ann, ask):
    world.forget()
    for _ in range(7):
        keep("auth.logout", ann)

    totals = [ask("me/audit", limit=3, offset=n).data["total"] for n in (0, 3, 6, 7, 9)]

    assert totals == [7] * 5


@pytest.mark.parametrize("path", ["admin/audit", "me/audit"])
def test_beyond_the_cap_the_total_says_whether_the_list_goes_on(
    root, world, ann, ask, path, monkeypatch
):
    world.forget()
    monkeypatch.setattr(log, "COUNTED", 4)
    for _ in range(9):
        keep("auth.logout", ann)

    totals = [ask(path, limit=2, offset=n).data["total"] for n in range(0, 12, 2)]

    assert totals == [4, 5, 7, 9, 9, 4]


# What it costs


@pytest.mark.parametrize("path", [*ALL, *OWN])
@pytest.mark.parametrize("field", ["created_at", "action", "severity", "actor_id"])
def test_a_list_costs_at_most_three(root, world, ann, ask, path, field):
    for action in ACTIONS:
        keep(action, ann)

    assert len(statements(lambda: ask(path, limit=1, sort_field=field))) <= 3


def test_severities_are_those_of_the_interface():
    assert set(SEVERITIES) == {"info", "warning", "critical"}


def test_metadata_is_json_text(world, listed):
    world.as_ann("PUT", "profile", name="Ann Cee")

    row = listed("me/audit/changes")[0]

    assert isinstance(row["metadata"], str)
    assert metadata(Entry.objects.get(pk=row["id"]))["name"] == {"before": "", "after": "Ann Cee"}
