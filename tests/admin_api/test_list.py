"""GET /admin/users: order, parts, search and filters."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from authservice.admin import search
from authservice.admin.serializers import UsersPage
from authservice.core.models import Account
from tests.admin_api.people import ROOT, account, make_superuser
from tests.contract.shapes import ADMIN_USER, fits, is_refusal
from tests.people import has, make_user, the_user

pytestmark = pytest.mark.django_db

SORTS = ("created_at", "email", "username", "name")
PEOPLE = ["delta", "alpha", "charlie", "bravo", "echo"]


@pytest.fixture
def crowd(root):
    """Five people whose order differs by each field; ids by first name."""
    born = datetime(2020, 1, 1, tzinfo=UTC)
    ids = {}
    for place, name in enumerate(PEOPLE):
        user = make_user(f"{name}@example.com", **({"username": f"u-{name}"} if HAS_NAMES else {}))
        when = born + timedelta(days=place)
        Account.objects.filter(pk=user.pk).update(
            created_at=when, name=f"{name[::-1]} x", username=f"u-{name}"
        )
        ids[name] = str(user.pk)
    return ids


HAS_NAMES = has("username")


def emails(answer):
    assert answer.status == 200, answer.body
    return [user["email"].partition("@")[0] for user in answer.data["list"]]


def found(root, **query):
    """Whom a list has, but the admin who asks."""
    return sorted(set(emails(root.users(**query))) - {"root"})


def test_a_list_object_of_users(root, ann):
    answer = root.users()

    assert set(answer.body) == {"data"}
    assert set(answer.data) == {"list", "sort_field", "sort_dir", "total"}
    assert all(fits(user, ADMIN_USER) for user in answer.data["list"])
    rest = {key: value for key, value in answer.data.items() if key != "list"}
    assert rest == {"sort_field": "created_at", "sort_dir": "desc", "total": 2}


def test_each_user_is_told_as_by_itself(root, ann, ann_id):
    listed = {user["id"]: user for user in root.users().data["list"]}

    assert listed[ann_id] == root.show(ann_id).data


def test_the_newest_come_first(root, crowd):
    assert emails(root.users()) == ["root", *reversed(PEOPLE)]


@pytest.mark.parametrize("direction", ["asc", "desc"])
@pytest.mark.parametrize("field", SORTS)
def test_it_is_sorted_by_each_field_both_ways(root, crowd, field, direction):
    answer = root.users(sort_field=field, sort_dir=direction, query="@example.com")

    rows = list(
        Account.objects.order_by(
            *(("" if direction == "asc" else "-") + f for f in (field, "user_id"))
        )
    )
    assert emails(answer) == [row.email.partition("@")[0] for row in rows]
    assert (answer.data["sort_field"], answer.data["sort_dir"]) == (field, direction)


@pytest.mark.parametrize("direction", ["asc", "desc"])
@pytest.mark.parametrize("field", SORTS)
def test_pages_never_overlap_though_all_are_alike(root, crowd, field, direction):
    Account.objects.update(created_at=datetime(2020, 1, 1, tzinfo=UTC), name="same")
    order = {"sort_field": field, "sort_dir": direction}

    parts = [root.users(offset=at, limit=2, **order).data for at in range(0, 6, 2)]

    ids = [user["id"] for part in parts for user in part["list"]]
    assert len(ids) == len(set(ids)) == 6
    assert {part["total"] for part in parts} == {6}


def test_a_page_beyond_the_end_is_empty_and_knows_the_total(root, crowd):
    answer = root.users(offset=50)

    assert (answer.data["list"], answer.data["total"]) == ([], 6)


@pytest.mark.parametrize(("asked", "got"), [(None, 20), (5, 5), (100, 25), (1000, 25)])
def test_a_limit_is_20_unless_asked_and_at_most_100(root, asked, got):
    for number in range(24):
        make_user(f"p{number}@example.com")

    answer = root.users(**({"limit": asked} if asked else {}))

    assert (len(answer.data["list"]), answer.data["total"]) == (got, 25)


@pytest.mark.parametrize(
    "query",
    [
        {"limit": 0},
        {"limit": "x"},
        {"offset": -1},
        {"sort_field": "password"},
        {"sort_field": "created_at,id"},
        {"sort_dir": "down"},
        {"active": "yes"},
        {"email_verified": "1"},
        {"is_super_admin": "True"},
        {"created_after": "yesterday"},
        {"created_before": "2030-13-01"},
        {"last_login_before": "9999-12-31T23:59:59-12:00"},
        {"query": "a" * 255},
        {"query": "a\x00b"},
        {"query": "a\nb"},
    ],
    ids=str,
)
def test_what_is_not_understood_is_refused(root, query):
    answer = root.users(**query)

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"].startswith(f"{next(iter(query))}: ")


@pytest.mark.parametrize("name", UsersPage().fields)
def test_an_empty_parameter_counts_as_absent(root, crowd, name):
    assert root.users(**{name: ""}).body == root.users().body


def test_what_is_not_known_is_ignored(root):
    assert root.users(page=2).status == 200


# Search


@pytest.mark.parametrize(
    ("text", "whom"),
    [
        ("alpha@example.com", ["alpha"]),
        ("ALPHA@", ["alpha"]),
        ("lph", ["alpha"]),
        ("u-br", ["bravo"]),
        ("ovarb X", ["bravo"]),
        ("@EXAMPLE.com", sorted(PEOPLE)),
        ("a", sorted(PEOPLE)),
        ("nobody", []),
        ("%", []),
        ("_", []),
        ("\\", []),
        ("al%a", []),
        ("alph_", []),
        ("xalpha", []),
        ("'; DROP TABLE", []),
        ("  lph  ", ["alpha"]),
        ("(", []),
        ("", sorted(PEOPLE)),
    ],
)
def test_a_search_is_a_substring_in_whatever_case(root, crowd, text, whom):
    assert found(root, query=text) == whom


@pytest.mark.parametrize("text", ["50%", "a_b", "back\\slash", "(x)", "a.b", "[z]", "^", "$5"])
def test_what_means_something_to_a_database_is_literal(root, crowd, text):
    Account.objects.filter(pk=account("alpha@example.com").pk).update(name=f"is {text} so")
    Account.objects.filter(pk=account("bravo@example.com").pk).update(name="is 500 axb backslash")

    assert found(root, query=text) == ["alpha"]


@pytest.mark.parametrize("text", ["žižková", "ŽIŽKOVÁ", "Žižk"])
def test_other_letters_have_case_too(root, crowd, text):
    Account.objects.filter(pk=account("echo@example.com").pk).update(name="Jana Žižková")

    assert found(root, query=text) == ["echo"]


def test_a_search_does_not_run_from_one_field_into_the_next(root, crowd):
    assert found(root, query="xalpha") == found(root, query="x alpha") == []


def test_a_search_has_a_total_of_its_own(root, crowd):
    assert root.users(query="@example.com", limit=2).data["total"] == 6
    assert root.users(query="lph").data["total"] == 1
    assert root.users(query="nobody").data["total"] == 0


# Filters


def test_the_suspended_and_the_others(root, crowd):
    root.do("suspend", crowd["alpha"])

    assert found(root, active="false") == ["alpha"]
    assert found(root, active="true") == ["bravo", "charlie", "delta", "echo"]


def test_the_verified_and_the_others(root, crowd):
    root.put(crowd["alpha"], email_verified=True)

    assert found(root, email_verified="true") == ["alpha"]
    assert found(root, email_verified="false") == ["bravo", "charlie", "delta", "echo"]


def test_super_admins_by_flag_and_by_the_project(root, crowd):
    root.put(crowd["alpha"], is_super_admin=True)
    kings = ["alpha"]
    if has("is_superuser"):
        make_superuser("bravo@example.com")
        kings.append("bravo")

    assert found(root, is_super_admin="true") == kings
    assert found(root, is_super_admin="false") == sorted(set(PEOPLE) - set(kings))


@pytest.mark.parametrize(
    ("query", "whom"),
    [
        ({"created_after": "2020-01-04"}, ["bravo", "echo"]),
        ({"created_after": "2020-01-04T00:00:00.000001Z"}, ["echo"]),
        ({"created_before": "2020-01-02"}, ["delta"]),
        ({"created_before": "2020-01-02T01:00:00+01:00"}, ["delta"]),
        ({"created_before": "2020-01-02T01:00:01+01:00"}, ["alpha", "delta"]),
        ({"created_after": "2020-01-02", "created_before": "2020-01-04"}, ["alpha", "charlie"]),
    ],
    ids=str,
)
def test_those_who_came_within_a_time(root, crowd, query, whom):
    assert [name for name in found(root, **query) if name in PEOPLE] == whom


def test_those_who_signed_in_before_a_time(root, crowd):
    user = the_user("alpha@example.com")
    user.last_login = datetime(2021, 1, 1, tzinfo=UTC)
    user.save()

    assert found(root, last_login_before="2021-01-02") == ["alpha"]
    assert found(root, last_login_before="2021-01-01") == []


def test_filters_and_search_go_together(root, crowd):
    root.do("suspend", crowd["alpha"])
    root.do("suspend", crowd["bravo"])

    assert found(root, active="false", query="alpha") == ["alpha"]


@pytest.mark.skipif(not has("is_active"), reason="this host's users have no flag of their own")
def test_what_the_host_changed_behind_our_back_is_told(root, crowd):
    user = the_user("alpha@example.com")
    type(user).objects.filter(pk=user.pk).update(is_active=False)

    (alpha,) = root.users(query="alpha@").data["list"]
    assert alpha["active"] is False
    assert root.users(query=ROOT).data["total"] == 1


def test_search_on_postgresql_takes_underscore_and_percent_literally(monkeypatch):
    monkeypatch.setattr(connection, "vendor", "postgresql")

    [condition] = search.containing("a_b 50% c\\d", connection.alias).children

    pattern = condition.get_source_expressions()[-1].value
    assert pattern == r"%a\_b 50\% c\\d%"
