"""The lists of entries: whose they are, how they are sorted, narrowed, paged and counted."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from authservice.audit import queries
from authservice.audit.categories import category_of
from authservice.audit.models import Entry
from authservice.audit.serializers import EntriesPage
from authservice.kernel.actions import ACTIONS
from authservice.kernel.client import Client
from tests.audit.kept import keep, keep_all, made

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


def test_an_entry_has_the_fields_of_the_interface(world, listed):
    world.log_in()

    assert set(listed("me/audit")[0]) == FIELDS


@pytest.mark.parametrize("path", [*ALL, *OWN])
def test_a_list_object_says_how_it_is_sorted_and_how_many_there_are(world, ask, path):
    data = ask(path).data

    assert set(data) == {"list", "sort_field", "sort_dir", "total"}
    assert (data["sort_field"], data["sort_dir"]) == ("created_at", "desc")


@pytest.mark.parametrize("path", [*ALL, *OWN])
def test_a_senseless_page_is_refused(world, ask, path):
    senseless = {"limit": 0, "offset": -1, "sort_field": "details", "sort_dir": "up"}

    errors = {name: ask(path, **{name: value}).error for name, value in senseless.items()}

    assert errors == dict.fromkeys(senseless, (400, "VALIDATION_ERROR"))


@pytest.mark.parametrize("path", [*ALL, *OWN])
@pytest.mark.parametrize("name", EntriesPage().fields)
def test_an_empty_parameter_counts_as_absent(world, ann, ask, path, name):
    keep_all([made("auth.logout", ann) for _ in range(3)])

    assert ask(path, **{name: ""}).data == ask(path).data


def test_more_than_a_hundred_is_a_hundred(world, ann, ask):
    keep_all([made("auth.logout", ann) for _ in range(101)])

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


def test_a_deed_to_oneself_is_in_one_of_the_two_parts_that_a_list_is_made_of(
    world, ann, actions, monkeypatch
):
    """Databases that put the parts together would list it twice; SQLite asks for both at once."""
    world.forget()
    keep("admin.user.updated", ann, ann, actor_type="admin")
    parts, together = [], queries._combined

    def note(given, *more, **options):
        parts[:] = [rows.count() for rows in given]
        return together(given, *more, **options)

    monkeypatch.setattr(queries, "_combined", note)
    actions("me/audit")

    assert sorted(parts) == [0, 1]


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
    keep_all([made(action, ann) for action in ACTIONS])

    wanted = {action for action in ACTIONS if action.startswith(stems)}
    assert set(actions(f"me/audit/{group}", limit=100)) == wanted
    assert {action for action in ACTIONS if category_of(action) == group} == wanted


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


def collated(text):
    """What the database compares: MySQL and MariaDB ignore case, so "_" follows all letters."""
    return text.upper() if connection.vendor == "mysql" else text


@pytest.mark.parametrize("path", [*ALL, "me/audit"])
@pytest.mark.parametrize("field", ["created_at", "action", "severity", "actor_id"])
def test_every_order_holds_both_ways_over_all_pages(world, ann, bob, listed, path, field):
    world.forget()
    keep_all(
        [
            made(action, [ann, bob, None][number % 3], [None, ann][number % 2], at=NOON)
            for number, action in enumerate(a for a in ACTIONS if a.startswith("auth."))
        ]
    )

    for direction in ("asc", "desc"):
        whole = listed(path, limit=100, sort_field=field, sort_dir=direction)
        pages = [
            listed(path, limit=5, offset=n, sort_field=field, sort_dir=direction)
            for n in range(0, len(whole) + 5, 5)
        ]

        keys = [(collated(row[field]), row["id"]) for row in whole]
        if field == "created_at":
            keys = [key[1] for key in keys]
        assert keys == sorted(keys, reverse=direction == "desc")
        assert [row["id"] for page in pages for row in page] == [row["id"] for row in whole]
        assert len(whole) > 8


def test_the_database_sorts_actions_as_everybody_does(world, ann, actions):
    world.forget()
    keep_all([made(action, ann) for action in reversed(ACTIONS)])

    assert actions("me/audit", limit=100, sort_field="action", sort_dir="asc") == sorted(
        ACTIONS, key=collated
    )


def test_entries_of_one_millisecond_stand_in_the_order_of_their_microseconds(world, ann, listed):
    world.forget()
    moments = [NOON + timedelta(microseconds=n) for n in range(0, 1000, 7)]
    keep_all([made("auth.logout", ann, at=moment) for moment in reversed(moments)])

    told = [row["created_at"] for n in (0, 100) for row in listed("me/audit", limit=100, offset=n)]

    assert told == sorted(told, reverse=True)
    assert len(told) == len(moments)
