"""Filters and totals of the lists of entries, and the statements that a list costs."""

from datetime import UTC, datetime, timedelta

import pytest

from authservice.audit import queries
from authservice.audit.models import Entry
from authservice.kernel.actions import ACTIONS, SEVERITIES
from tests.audit.stored import store, store_all, unsaved
from tests.audit.world import metadata
from tests.support.statements import statements

pytestmark = pytest.mark.django_db

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
ALL = ("admin/audit", "admin/audit/users/{ann}", "admin/audit/actions/auth")
OWN = ("me/audit", "me/audit/logins", "me/audit/changes", "me/audit/security")


# Filters


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
        ("nothing", []),
    ],
)
def test_action_filter_accepts_name_or_prefix(root, world, ann, actions, asked, found):
    world.forget()
    for action in ("auth.logout", "auth.password.reset", "auth.password.reset_requested"):
        store(action, ann)

    assert sorted(actions("admin/audit", action=asked)) == found
    assert sorted(actions(f"admin/audit/actions/{asked}")) == found


def test_action_filter_takes_a_percent_sign_literally(root, world, ann, actions):
    store("auth.logout", ann)

    assert actions("admin/audit", action="%") == []


@pytest.mark.parametrize("path", ALL)
def test_every_filter_applies_to_every_list_of_super_admins(root, world, ann, bob, listed, path):
    world.forget()
    expected = store("auth.login.failed", ann, bob, at=NOON)
    store("auth.logout", bob, ann, at=NOON - timedelta(hours=1))
    store("auth.login.failed", ann, at=NOON + timedelta(hours=1))

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
        assert str(expected.pk) in [row["id"] for row in rows], name
        assert len(rows) < 3 or path.endswith("actions/auth"), name
    assert [row["id"] for row in listed(path, **filters)] == [str(expected.pk)]


def test_time_filter_includes_its_start_and_excludes_its_end(root, world, listed):
    world.forget()
    expected = [store("auth.logout", at=NOON + timedelta(microseconds=n)) for n in range(4)]
    begin, end = (f"2030-01-01T12:00:00.00000{n}Z" for n in (1, 3))

    rows = listed("admin/audit", **{"from": begin, "to": end})

    assert [row["id"] for row in rows] == [str(expected[2].pk), str(expected[1].pk)]


@pytest.mark.parametrize(
    "query", [{"severity": "bad"}, {"from": "soon"}, {"to": "0"}, {"action": "a" * 65}], ids=str
)
def test_invalid_filter_is_refused(world, ask, query):
    assert ask("admin/audit", **query).error == (400, "VALIDATION_ERROR")


def test_time_filter_outside_all_entries_finds_nothing(world, listed):
    assert listed("admin/audit", **{"from": "9999-12-31T23:59:59Z"}) == []
    assert listed("admin/audit", **{"to": "0001-01-01"}) == []


# Totals


def test_total_is_exact_below_the_cap(world, ann, ask):
    world.forget()
    for _ in range(7):
        store("auth.logout", ann)

    totals = [ask("me/audit", limit=3, offset=n).data["total"] for n in (0, 3, 6, 7, 9)]

    assert totals == [7] * 5


@pytest.mark.parametrize("path", ["admin/audit", "me/audit"])
def test_total_beyond_the_cap_shows_whether_more_entries_follow(
    root, world, ann, ask, path, monkeypatch
):
    world.forget()
    monkeypatch.setattr(queries, "COUNTED", 4)
    for _ in range(9):
        store("auth.logout", ann)

    totals = [ask(path, limit=2, offset=n).data["total"] for n in range(0, 12, 2)]

    assert totals == [4, 5, 7, 9, 9, 4]


# Statements


@pytest.mark.parametrize("path", [*ALL, *OWN])
def test_list_costs_at_most_three_statements(root, world, ann, ask, path):
    store_all([unsaved(action, ann) for action in ACTIONS])

    def read(field):
        return len(statements(lambda: ask(path, limit=1, sort_field=field)))

    costs = {field: read(field) for field in ("created_at", "action", "severity", "actor_id")}
    assert max(costs.values()) <= 3, costs


def test_severities_are_the_documented_ones():
    assert set(SEVERITIES) == {"info", "warning", "critical"}


def test_metadata_is_json_text(world, listed):
    world.as_ann("PUT", "profile", name="Ann Cee")

    row = listed("me/audit/changes")[0]

    assert isinstance(row["metadata"], str)
    assert metadata(Entry.objects.get(pk=row["id"]))["name"] == {"before": "", "after": "Ann Cee"}
