"""GET /admin/users: order, pages, search and filters."""

from datetime import UTC, datetime, timedelta

import pytest

from authservice.admin.views import UsersPage
from authservice.core.models import Account
from tests.admin_api.people import ROOT, account, make_superuser
from tests.contract.shapes import ADMIN_USER, fits, is_refusal
from tests.support.people import has, make_user, the_user

pytestmark = pytest.mark.django_db

SORTS = ("created_at", "email", "username", "name")
PEOPLE = ["delta", "alpha", "charlie", "bravo", "echo"]


@pytest.fixture
def five_users(root):
    """Five users whose order differs by each field; returns their IDs by name."""
    first_day = datetime(2020, 1, 1, tzinfo=UTC)
    ids = {}
    for day, name in enumerate(PEOPLE):
        user = make_user(f"{name}@example.com", **({"username": f"u-{name}"} if HAS_NAMES else {}))
        created_at = first_day + timedelta(days=day)
        Account.objects.filter(pk=user.pk).update(
            created_at=created_at, name=f"{name[::-1]} x", username=f"u-{name}"
        )
        ids[name] = str(user.pk)
    return ids


HAS_NAMES = has("username")


def emails(answer):
    assert answer.status == 200, answer.body
    return [user["email"].partition("@")[0] for user in answer.data["list"]]


def found(root, **query):
    """The users in a list, except the admin who requests it."""
    return sorted(set(emails(root.users(**query))) - {"root"})


def test_list_contains_users_order_and_total(root, ann):
    answer = root.users()

    assert set(answer.body) == {"data"}
    assert set(answer.data) == {"list", "sort_field", "sort_dir", "total"}
    assert all(fits(user, ADMIN_USER) for user in answer.data["list"])
    others = {key: value for key, value in answer.data.items() if key != "list"}
    assert others == {"sort_field": "created_at", "sort_dir": "desc", "total": 2}


def test_list_shows_each_user_like_the_route_of_one_user(root, ann, ann_id):
    listed = {user["id"]: user for user in root.users().data["list"]}

    assert listed[ann_id] == root.show(ann_id).data


def test_list_starts_with_the_newest_users(root, five_users):
    assert emails(root.users()) == ["root", *reversed(PEOPLE)]


@pytest.mark.parametrize("direction", ["asc", "desc"])
@pytest.mark.parametrize("field", SORTS)
def test_list_is_sorted_by_each_field_in_both_directions(root, five_users, field, direction):
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
def test_pages_do_not_overlap_if_all_users_have_equal_values(root, five_users, field, direction):
    Account.objects.update(created_at=datetime(2020, 1, 1, tzinfo=UTC), name="same")
    order = {"sort_field": field, "sort_dir": direction}

    pages = [root.users(offset=at, limit=2, **order).data for at in range(0, 6, 2)]

    ids = [user["id"] for page in pages for user in page["list"]]
    assert len(ids) == len(set(ids)) == 6
    assert {page["total"] for page in pages} == {6}


def test_page_beyond_the_end_is_empty_and_has_the_total(root, five_users):
    answer = root.users(offset=50)

    assert (answer.data["list"], answer.data["total"]) == ([], 6)


@pytest.mark.parametrize(("limit", "length"), [(None, 20), (5, 5), (100, 25), (1000, 25)])
def test_limit_is_20_by_default_and_at_most_100(root, limit, length):
    for number in range(24):
        make_user(f"p{number}@example.com")

    answer = root.users(**({"limit": limit} if limit else {}))

    assert (len(answer.data["list"]), answer.data["total"]) == (length, 25)


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
def test_invalid_parameter_is_refused(root, query):
    answer = root.users(**query)

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"].startswith(f"{next(iter(query))}: ")


@pytest.mark.parametrize("name", UsersPage().fields)
def test_empty_parameter_is_ignored(root, five_users, name):
    assert root.users(**{name: ""}).body == root.users().body


def test_unknown_parameter_is_ignored(root):
    assert root.users(page=2).status == 200


# Search


@pytest.mark.parametrize(
    ("text", "names"),
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
def test_search_matches_substrings_in_any_case(root, five_users, text, names):
    assert found(root, query=text) == names


@pytest.mark.parametrize("text", ["50%", "a_b", "back\\slash", "(x)", "a.b", "[z]", "^", "$5"])
def test_search_treats_special_characters_of_databases_literally(root, five_users, text):
    Account.objects.filter(pk=account("alpha@example.com").pk).update(name=f"is {text} so")
    Account.objects.filter(pk=account("bravo@example.com").pk).update(name="is 500 axb backslash")

    assert found(root, query=text) == ["alpha"]


@pytest.mark.parametrize("text", ["žižková", "ŽIŽKOVÁ", "Žižk"])
def test_search_ignores_case_of_non_ascii_letters(root, five_users, text):
    Account.objects.filter(pk=account("echo@example.com").pk).update(name="Jana Žižková")

    assert found(root, query=text) == ["echo"]


def test_search_does_not_match_across_fields(root, five_users):
    assert found(root, query="xalpha") == found(root, query="x alpha") == []


def test_total_of_a_search_counts_its_matches(root, five_users):
    assert root.users(query="@example.com", limit=2).data["total"] == 6
    assert root.users(query="lph").data["total"] == 1
    assert root.users(query="nobody").data["total"] == 0


# Filters


def test_filter_by_active(root, five_users):
    root.do("suspend", five_users["alpha"])

    assert found(root, active="false") == ["alpha"]
    assert found(root, active="true") == ["bravo", "charlie", "delta", "echo"]


def test_filter_by_verified_address(root, five_users):
    root.put(five_users["alpha"], email_verified=True)

    assert found(root, email_verified="true") == ["alpha"]
    assert found(root, email_verified="false") == ["bravo", "charlie", "delta", "echo"]


def test_filter_by_super_admin_includes_superusers_of_the_project(root, five_users):
    root.put(five_users["alpha"], is_super_admin=True)
    super_admins = ["alpha"]
    if has("is_superuser"):
        make_superuser("bravo@example.com")
        super_admins.append("bravo")

    assert found(root, is_super_admin="true") == super_admins
    assert found(root, is_super_admin="false") == sorted(set(PEOPLE) - set(super_admins))


@pytest.mark.parametrize(
    ("query", "names"),
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
def test_filter_by_time_of_creation(root, five_users, query, names):
    assert [name for name in found(root, **query) if name in PEOPLE] == names


def test_filter_by_time_of_last_login(root, five_users):
    user = the_user("alpha@example.com")
    user.last_login = datetime(2021, 1, 1, tzinfo=UTC)
    user.save()

    assert found(root, last_login_before="2021-01-02") == ["alpha"]
    assert found(root, last_login_before="2021-01-01") == []


def test_filter_and_search_are_combined(root, five_users):
    root.do("suspend", five_users["alpha"])
    root.do("suspend", five_users["bravo"])

    assert found(root, active="false", query="alpha") == ["alpha"]


@pytest.mark.skipif(not has("is_active"), reason="users of this host have no is_active")
def test_list_shows_changes_that_the_host_made_without_signals(root, five_users):
    user = the_user("alpha@example.com")
    type(user).objects.filter(pk=user.pk).update(is_active=False)

    (alpha,) = root.users(query="alpha@").data["list"]
    assert alpha["active"] is False
    assert root.users(query=ROOT).data["total"] == 1
