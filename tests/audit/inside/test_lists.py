"""The lists of entries: access, order, filters, pages and totals."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from authservice.audit import queries
from authservice.audit.models import Entry
from authservice.audit.views import EntriesPage
from authservice.audit.writer import category_of
from authservice.kernel.actions import ACTIONS
from authservice.kernel.client import Client
from tests.audit.stored import store, store_all, unsaved

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


def test_listed_entry_has_the_documented_fields(world, listed):
    world.log_in()

    assert set(listed("me/audit")[0]) == FIELDS


@pytest.mark.parametrize("path", [*ALL, *OWN])
def test_list_response_has_sort_order_and_total(world, ask, path):
    data = ask(path).data

    assert set(data) == {"list", "sort_field", "sort_dir", "total"}
    assert (data["sort_field"], data["sort_dir"]) == ("created_at", "desc")


@pytest.mark.parametrize("path", [*ALL, *OWN])
def test_list_refuses_invalid_page_parameters(world, ask, path):
    invalid = {"limit": 0, "offset": -1, "sort_field": "details", "sort_dir": "up"}

    errors = {name: ask(path, **{name: value}).error for name, value in invalid.items()}

    assert errors == dict.fromkeys(invalid, (400, "VALIDATION_ERROR"))


@pytest.mark.parametrize("path", [*ALL, *OWN])
def test_list_treats_empty_parameter_as_absent(world, ann, ask, path):
    store_all([unsaved("auth.logout", ann) for _ in range(3)])
    names = list(EntriesPage().fields)

    lists = {name: ask(path, **{name: ""}).data for name in names}

    assert lists == dict.fromkeys(names, ask(path).data)


def test_list_limit_is_capped_at_one_hundred(world, ann, ask):
    store_all([unsaved("auth.logout", ann) for _ in range(101)])

    assert [len(ask("me/audit", limit=n).data["list"]) for n in (100, 1000)] == [100, 100]


# Access


def test_own_list_has_entries_with_the_user_as_actor_or_target(world, ann, bob, actions):
    world.forget()
    store("auth.logout", ann)
    store("admin.user.updated", bob, ann, actor_type="admin")
    store("user.profile.updated", bob)
    store("security.session.revoked", None, ann, actor_type="system")

    assert actions("me/audit", sort_dir="asc") == [
        "auth.logout",
        "admin.user.updated",
        "security.session.revoked",
    ]


def test_own_list_shows_action_on_oneself_once(world, ann, actions):
    world.forget()
    store("admin.user.updated", ann, ann, actor_type="admin")

    assert actions("me/audit") == ["admin.user.updated"]


def test_own_list_reads_action_on_oneself_in_one_of_its_two_parts(world, ann, actions, monkeypatch):
    """Databases that combine the two parts would list it twice; SQLite reads both at once."""
    world.forget()
    store("admin.user.updated", ann, ann, actor_type="admin")
    parts, together = [], queries._combined

    def note(given, *more, **options):
        parts[:] = [rows.count() for rows in given]
        return together(given, *more, **options)

    monkeypatch.setattr(queries, "_combined", note)
    actions("me/audit")

    assert sorted(parts) == [0, 1]


def test_own_list_omits_other_target_types_with_the_same_id(world, ann, actions):
    world.forget()
    entry = store("org.updated", None, ann)
    Entry.objects.filter(pk=entry.pk).update(target_type="organization")

    assert actions("me/audit") == []


def test_own_list_hides_the_client_of_other_actors(world, ann, bob, listed):
    world.forget()
    store(
        "admin.user.updated", bob, ann, actor_type="admin", client=ELSEWHERE, metadata={"name": 1}
    )

    (row,) = listed("me/audit")

    assert (row["ip_address"], row["user_agent"]) == ("", "")
    assert row["metadata"] == '{"request_id":"","name":1}'
    assert row["actor_id"] == str(bob.pk)


def test_super_admin_list_shows_the_client_of_every_actor(world, ann, bob, listed):
    world.forget()
    store("admin.user.updated", bob, ann, actor_type="admin", client=ELSEWHERE)

    (row,) = listed("admin/audit/users/{ann}")

    assert (row["ip_address"], row["user_agent"]) == (ELSEWHERE.address, ELSEWHERE.user_agent)
    assert '"request_id":"theirs"' in row["metadata"]


def test_own_list_shows_the_address_of_failed_logins(world, listed):
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
def test_own_list_of_a_category_has_only_its_actions(world, ann, actions, group, stems):
    world.forget()
    store_all([unsaved(action, ann) for action in ACTIONS])

    wanted = {action for action in ACTIONS if action.startswith(stems)}
    assert set(actions(f"me/audit/{group}", limit=100)) == wanted
    assert {action for action in ACTIONS if category_of(action) == group} == wanted


def test_list_of_a_user_has_entries_as_actor_or_target(world, ann, bob, actions):
    world.forget()
    store("auth.logout", ann)
    store("admin.user.updated", bob, ann)
    store("auth.logout", bob)

    assert actions("admin/audit/users/{ann}") == ["admin.user.updated", "auth.logout"]


def test_list_of_a_deleted_user_remains(world, actions):
    path = f"admin/audit/users/{world.ann_id}"
    world.root.delete(world.ann_id)

    assert actions(path)[0] == "admin.user.deleted"


def test_list_of_an_unknown_user_is_empty(world, ask):
    data = ask("admin/audit/users/nobody").data

    assert (data["list"], data["total"]) == ([], 0)


def test_list_finds_entries_of_a_removed_module_by_the_whole_action(world, ann, actions):
    entry = unsaved("auth.logout", ann)
    entry.action = "shop.paid"
    store_all([entry])

    assert actions("admin/audit/actions/shop.paid") == ["shop.paid"]
    assert actions("admin/audit", action="shop.paid", sort_field="severity") == ["shop.paid"]
    assert actions("admin/audit", action="shop.paid", severity="critical") == []


@pytest.mark.parametrize("path", ["users/%00", "users/a%0Ab", "users/" + "a" * 256])
def test_list_refuses_invalid_user_id(world, ask, path):
    assert ask(f"admin/audit/{path}").error == (400, "VALIDATION_ERROR")


@pytest.mark.parametrize("action", ["%00", "auth%00", "a%0Ab"])
def test_list_refuses_the_same_actions_in_the_path_as_in_the_query(world, ask, action):
    in_path, in_query = ask(f"admin/audit/actions/{action}"), ask(f"admin/audit?action={action}")

    assert in_path.error == in_query.error == (400, "VALIDATION_ERROR")
    assert in_path.data == in_query.data


@pytest.mark.parametrize(
    "path", ["actions/*", "actions/.", "actions/" + "a" * 255, "actions/%E2%80%AE"]
)
def test_list_accepts_unusual_action(world, ask, path):
    assert ask(f"admin/audit/{path}").status == 200


# Order


def collated(text):
    """The sort key of the database: MySQL and MariaDB ignore case, so "_" follows all letters."""
    return text.upper() if connection.vendor == "mysql" else text


@pytest.mark.parametrize("path", [*ALL, "me/audit"])
@pytest.mark.parametrize("field", ["created_at", "action", "severity", "actor_id"])
def test_list_order_is_stable_over_all_pages_in_both_directions(
    world, ann, bob, listed, path, field
):
    world.forget()
    store_all(
        [
            unsaved(action, [ann, bob, None][number % 3], [None, ann][number % 2], at=NOON)
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


def test_list_sorts_actions_alphabetically(world, ann, actions):
    world.forget()
    store_all([unsaved(action, ann) for action in reversed(ACTIONS)])

    assert actions("me/audit", limit=100, sort_field="action", sort_dir="asc") == sorted(
        ACTIONS, key=collated
    )


def test_list_sorts_entries_of_one_millisecond_by_microsecond(world, ann, listed):
    world.forget()
    moments = [NOON + timedelta(microseconds=n) for n in range(0, 1000, 7)]
    store_all([unsaved("auth.logout", ann, at=moment) for moment in reversed(moments)])

    moments_listed = [
        row["created_at"] for n in (0, 100) for row in listed("me/audit", limit=100, offset=n)
    ]

    assert moments_listed == sorted(moments_listed, reverse=True)
    assert len(moments_listed) == len(moments)
