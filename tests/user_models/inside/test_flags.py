"""The model says who is active: by a column, a property, a method, or not at all."""

import uuid

import pytest
from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AnonymousUser
from django.contrib.messages.storage.cookie import CookieStorage
from django.core.checks import run_checks
from django.db import DatabaseError, InterfaceError, OperationalError

from authservice.core.admin.accounts import AccountAdmin
from authservice.core.models import Account
from authservice.core.users import lookup, search, user_model
from authservice.core.users.person import Person
from tests.support.people import has
from tests.user_models.inside.users import NATURAL, log_in, make_user

pytestmark = pytest.mark.django_db

User = get_user_model()


def member(user):
    return user.status == "member"


async def later(user):
    return True


def failing(user):
    raise RuntimeError("no answer")


def without_answer(user, organization):
    return True


def ban():
    User.objects.update(**({"is_active": False} if has("is_active") else {"status": "banned"}))


KINDS = {"column": None} if has("is_active") else {"property": property(member), "method": member}


@pytest.fixture(params=KINDS)
def said(request, monkeypatch):
    if KINDS[request.param]:
        monkeypatch.setattr(User, "is_active", KINDS[request.param])


@pytest.fixture
def tokens(api):
    make_user()
    return log_in(api).data


@pytest.mark.usefixtures("said")
def test_active_user_uses_tokens(api, tokens):
    assert api.get("me", token=tokens["access_token"]).data["active"] is True
    assert api.post("refresh", refresh_token=tokens["refresh_token"]).status == 200


@pytest.mark.usefixtures("said")
def test_user_who_is_not_active_is_refused_everywhere(api, tokens):
    ban()

    assert log_in(api).error == (403, "USER_NOT_ACTIVE")
    assert api.get("me", token=tokens["access_token"]).error == (401, "INVALID_TOKEN")
    refreshed = api.post("refresh", refresh_token=tokens["refresh_token"])
    assert refreshed.error == (401, "INVALID_REFRESH_TOKEN")


@pytest.mark.usefixtures("said")
def test_request_for_me_costs_one_query(api, tokens, django_assert_num_queries):
    with django_assert_num_queries(1):
        api.get("me", token=tokens["access_token"])


@pytest.mark.skipif(has("is_active"), reason="the column decides")
def test_user_is_suspended_by_the_flag_of_the_account(api, tokens):
    Account.objects.update(active=False)

    assert log_in(api).error == (403, "USER_NOT_ACTIVE")
    assert api.get("me", token=tokens["access_token"]).error == (401, "INVALID_TOKEN")


@pytest.mark.skipif(has("is_active"), reason="the column decides")
@pytest.mark.parametrize(
    "attribute",
    [failing, property(failing), without_answer, later, False, None, property(lambda user: 0)],
    ids=["failing-method", "failing-property", "argument", "async", "false", "none", "zero"],
)
def test_user_is_refused_if_the_model_gives_no_clear_answer(api, tokens, monkeypatch, attribute):
    monkeypatch.setattr(User, "is_active", attribute)

    assert log_in(api).error == (403, "USER_NOT_ACTIVE")
    assert api.get("me", token=tokens["access_token"]).error == (401, "INVALID_TOKEN")


@pytest.mark.usefixtures("said")
@pytest.mark.parametrize("said_by", [lambda user: True, property(lambda user: True), True])
def test_superuser_is_super_admin_however_the_model_says_so(api, tokens, monkeypatch, said_by):
    assert api.get("admin/users", token=tokens["access_token"]).error == (403, "FORBIDDEN")

    monkeypatch.setattr(User, "is_superuser", said_by, raising=False)

    assert api.get("admin/users", token=tokens["access_token"]).status == 200


@pytest.mark.parametrize("attribute", [failing, property(failing), without_answer, later])
def test_rights_are_not_granted_but_protected_if_the_model_fails(monkeypatch, attribute):
    user = make_user()
    for flag in ("is_superuser", "is_staff"):
        monkeypatch.setattr(User, flag, attribute, raising=False)
    person = lookup.find_by_pk(user.pk)

    assert not person.is_super_admin
    assert not user_model.grants(user, "is_staff")
    assert person.has_rights  # so only a superuser may change the account


@pytest.mark.parametrize("outage", [DatabaseError, InterfaceError, OperationalError])
def test_flag_of_the_model_raises_an_outage_of_the_database(monkeypatch, outage):
    """If an outage counted as false, sessions of active users would end."""

    def ask(user):
        raise outage

    user = make_user()
    for flag in ("is_active", "is_staff"):
        monkeypatch.setattr(User, flag, property(ask), raising=False)

    with pytest.raises(outage):
        user_model.grants(user, "is_active")
    with pytest.raises(outage):
        user_model.may_have(user, "is_staff")


@pytest.mark.skipif(has("is_active"), reason="the column decides")
def test_staff_cannot_reactivate_whom_the_model_suspends(api, tokens, monkeypatch):
    monkeypatch.setattr(User, "is_active", property(member))
    monkeypatch.setattr(User, "is_superuser", property(lambda user: user.pk == boss), raising=False)
    boss = User.objects.get().pk
    name = {"number": 1, "code": "6f9619ff-8b86-d011-b42d-00c04fc964f0", "phone": "+4930123457"}
    other = make_user(**{User.USERNAME_FIELD: name[User.USERNAME_FIELD], "status": "banned"})
    path = f"admin/users/{other.pk}"

    answer = api.request("PUT", path, {"active": True}, token=tokens["access_token"])

    assert answer.error == (400, "VALIDATION_ERROR")
    assert api.request("PUT", path, {"active": False}, token=tokens["access_token"]).status == 200
    User.objects.filter(pk=other.pk).update(status="member")
    assert not lookup.find_by_pk(other.pk).active


@pytest.fixture
def crowd(api, tokens, monkeypatch):
    """The access token of a super admin, and three users: one whom the model suspends, one whom
    staff suspended where the model has no column, and one who is active."""
    made = [make_user(**other(number)) for number in range(3)]
    banned = {"is_active": False} if has("is_active") else {"status": "banned"}
    User.objects.filter(pk=made[0].pk).update(**banned)
    if not has("is_active"):
        Account.objects.filter(user=made[1]).update(active=False)
    boss = User.objects.exclude(pk__in=[user.pk for user in made]).get()
    Account.objects.filter(user=boss).update(is_super_admin=True)
    return tokens["access_token"]


def other(number):
    names = {
        "number": 10 + number,
        "code": uuid.UUID(int=number),
        "phone": f"+491511234567{number}",
    }
    return {NATURAL: names[NATURAL], "email": f"user{number}@example.com"}


@pytest.fixture(params=[*KINDS, "none"])
def said_or_not(request, monkeypatch):
    """Also a model that says nothing of it, where only our flag counts."""
    if KINDS.get(request.param):
        monkeypatch.setattr(User, "is_active", KINDS[request.param])


@pytest.mark.usefixtures("said_or_not")
@pytest.mark.parametrize(("value", "choice"), [("true", "yes"), ("false", "no")])
def test_filter_by_active_says_what_each_user_is(api, crowd, rf, value, choice):
    shown = api.get(f"admin/users?active={value}", token=crowd).data["list"]
    wanted = {
        str(pk)
        for pk in User.objects.values_list("pk", flat=True)
        if lookup.find_by_pk(pk).active is (choice == "yes")
    }

    assert {user["id"] for user in shown} == wanted
    assert {user["active"] for user in shown} == {choice == "yes"}
    assert wanted
    assert in_django_admin(rf, active_filter(choice)) == wanted


@pytest.mark.usefixtures("said")
@pytest.mark.parametrize("said_by", ["method", "property", "nothing"])
def test_filter_by_super_admin_says_what_each_user_is(api, crowd, rf, monkeypatch, said_by):
    chosen = User.objects.get(email="user2@example.com").pk
    answer = {"method": lambda user: user.pk == chosen}
    answer["property"] = property(answer["method"])
    if said_by in answer:
        monkeypatch.setattr(User, "is_superuser", answer[said_by], raising=False)
    for value, choice in (("true", "yes"), ("false", "no")):
        shown = api.get(f"admin/users?is_super_admin={value}", token=crowd).data["list"]
        wanted = {
            str(pk)
            for pk in User.objects.values_list("pk", flat=True)
            if lookup.find_by_pk(pk).is_super_admin is (choice == "yes")
        }

        assert {user["id"] for user in shown} == wanted
        assert in_django_admin(rf, {"super_admin": choice}) == wanted
    assert len(wanted) == (3 if said_by == "nothing" else 2)


def active_filter(choice):
    column = {"yes": "1", "no": "0"}[choice]
    return {"user__is_active__exact": column} if has("is_active") else {"active": choice}


def in_django_admin(rf, query):
    return {str(account.pk) for account in change_list(page_request(rf, query)).result_list}


def page_request(rf, query):
    request = rf.get("/", query)
    request.user, request._messages = AnonymousUser(), CookieStorage(request)
    return request


def change_list(request):
    return AccountAdmin(Account, admin.site).get_changelist_instance(request)


# The flag of the model that a filter compares, and the value of the users that it names.
KEPT = {"is_super_admin": ("is_superuser", True), "active": ("is_active", False)}


@pytest.mark.parametrize("name", ["is_super_admin"] if has("is_active") else KEPT)
def test_filter_that_selects_too_many_users_is_refused(api, crowd, rf, monkeypatch, name):
    """A statement takes a limited number of parameters, and the condition names each user."""
    flag, value = KEPT[name]
    monkeypatch.setattr(User, flag, property(lambda user: value), raising=False)
    monkeypatch.setattr(search, "MOST", 3)
    words = "The list cannot be filtered by this"
    monkeypatch.setattr(Person, "active", True)  # otherwise the caller is refused

    refused = api.get(f"admin/users?{name}=true", token=crowd)

    assert refused.error == (400, "VALIDATION_ERROR")
    assert refused.data["message"].startswith(f"{name}: {words}")
    parameter = name.removeprefix("is_")
    request = page_request(rf, {parameter: "yes"})
    with pytest.raises(IncorrectLookupParameters):
        change_list(request)
    assert [str(message).startswith(f"{name}: {words}") for message in request._messages] == [True]
    facets = change_list(page_request(rf, {"_facets": "True"}))
    [shown] = [spec for spec in facets.filter_specs if parameter in spec.expected_parameters()]
    assert [choice["display"] for choice in shown.choices(facets)][1:] == ["Yes (-)", "No (-)"]
    monkeypatch.setattr(search, "MOST", 4)
    assert api.get(f"admin/users?{name}=true", token=crowd).status == 200


def test_list_without_a_filter_asks_no_model(api, crowd, rf, django_assert_max_num_queries):
    with django_assert_max_num_queries(4):
        in_django_admin(rf, {})


def test_check_names_a_model_that_decides_by_a_property(monkeypatch):
    def ids():
        return {found.id for found in run_checks(tags=["authservice"])}

    assert "authservice.I081" not in ids()
    if not has("is_active"):
        monkeypatch.setattr(User, "is_active", property(member))
        assert "authservice.I081" in ids()
