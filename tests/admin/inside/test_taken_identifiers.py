"""No user gets the address or username of another one on a page of users in Django admin."""

from io import StringIO

import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command

from authservice.core.models import Account
from authservice.core.own_account import email_change
from authservice.core.users import identifiers, lookup
from tests.admin.inside.conftest import page, staff
from tests.admin.inside.test_changes import on_user_page
from tests.admin.inside.test_rights import guarded_page, only, save, save_list
from tests.admin.urls import GuardedAdmin
from tests.support.client import PASSWORD
from tests.support.people import change, email_field, has, the_user

pytestmark = pytest.mark.django_db

__all__ = ["only"]

ANN, BOSS = "ann@example.com", "boss@example.com"
EMAIL_TAKEN = "Another account has this e-mail address."
USERNAME_TAKEN = "Another account has this username."
SPELLINGS = pytest.mark.parametrize("email", [BOSS, "BOSS@Example.com"])
named = pytest.mark.skipif(not has("username"), reason="its users have no username")


def on_guarded_page(browser, user_form):
    return save(browser, the_user(), **user_form).content.decode()


PAGES = pytest.mark.parametrize("on_page", [on_user_page, on_guarded_page])


@pytest.fixture
def boss():
    return staff(BOSS, superuser=True)


@pytest.fixture
def support(helper):
    """A staff user with the permissions to view and change users and accounts only."""
    name = get_user_model()._meta.model_name
    return helper(f"view_{name}", f"change_{name}", f"add_{name}", "change_account")


def stored(user):
    return get_user_model().objects.get(pk=user.pk)


@PAGES
@pytest.mark.parametrize("email", ["BOSS@Example.com", "boss@EXAMPLE.com"])
def test_address_of_a_superuser_in_another_spelling_is_refused(support, boss, ann, on_page, email):
    user = the_user()

    assert EMAIL_TAKEN in on_page(support, {email_field(): email})

    assert getattr(stored(user), email_field()) == ANN


@named
@PAGES
def test_address_of_a_superuser_is_refused_and_still_finds_the_superuser(
    support, api, boss, ann, on_page
):
    boss.set_password(PASSWORD)
    boss.save()

    assert EMAIL_TAKEN in on_page(support, {email_field(): BOSS})

    out = StringIO()
    call_command("authservice_sync_accounts", stdout=out, stderr=out)
    assert "Contested" not in out.getvalue()
    assert api.log_in(BOSS)["user"]["id"] == str(boss.pk)


@PAGES
def test_address_that_a_superuser_enters_must_be_free_too(root, boss, ann, on_page):
    assert EMAIL_TAKEN in on_page(root, {email_field(): "Boss@example.com"})


@named
@PAGES
@pytest.mark.parametrize("username", ["Boss", "BOSS"])
def test_username_that_differs_in_case_only_is_refused(support, boss, ann, on_page, username):
    before = the_user().username

    assert USERNAME_TAKEN in on_page(support, {"username": username})

    assert the_user().username == before


@named
@PAGES
def test_username_of_a_user_without_an_account_is_refused(support, boss, ann, on_page):
    Account.objects.filter(user=boss).delete()

    assert USERNAME_TAKEN in on_page(support, {"username": "Boss"})


@PAGES
def test_own_address_in_another_spelling_is_accepted(support, ann, on_page):
    user = the_user()

    on_page(support, {email_field(): "Ann@example.com"})

    assert getattr(stored(user), email_field()) == "Ann@example.com"


@named
@PAGES
def test_user_with_a_contested_address_stays_editable(support, boss, ann, on_page):
    """Rows that the host project wrote before may share an address."""
    user = the_user()
    change(BOSS, **{email_field(): "Ann@example.com"})
    call_command("authservice_sync_accounts", stdout=StringIO(), stderr=StringIO())

    assert "Please correct the error" not in on_page(support, {"username": "anna"})

    assert stored(user).username == "anna"


def test_taken_address_is_an_error_of_the_field(support, boss, ann):
    answer = save(support, the_user(), **{email_field(): "Boss@example.com"})

    form = answer.context["adminform"].form
    assert form.errors == {email_field(): [EMAIL_TAKEN]}
    assert answer.content.decode().count(EMAIL_TAKEN) == 1


def test_taken_address_in_a_list_is_refused(support, boss, ann, only, monkeypatch):
    monkeypatch.setattr(GuardedAdmin, "list_display", ("pk", email_field()))
    monkeypatch.setattr(GuardedAdmin, "list_editable", (email_field(),))
    user = the_user()
    only(user)

    answer = save_list(support, user, **{email_field(): "Boss@example.com"})

    assert EMAIL_TAKEN in answer.content.decode()
    assert getattr(stored(user), email_field()) == ANN


def test_former_address_reserved_for_another_user_is_refused(support, boss, ann):
    former = "free@example.com"
    email_change.reserve(lookup.find_by_email(BOSS), identifiers.email_key(former))

    assert EMAIL_TAKEN in on_guarded_page(support, {email_field(): former})


@PAGES
def test_own_former_address_is_accepted(support, ann, on_page):
    user, former = the_user(), "free@example.com"
    email_change.reserve(lookup.find_by_email(ANN), identifiers.email_key(former))

    on_page(support, {email_field(): former})

    assert getattr(stored(user), email_field()) == former


# New users


def add(browser, path, **form):
    passwords = {"password1": PASSWORD, "password2": PASSWORD, "usable_password": "true"}
    through = get_user_model().groups.through.__name__
    inlines = ("authservice_account", through)
    forms = {f"{name}-{part}_FORMS": 0 for name in inlines for part in ("TOTAL", "INITIAL")}
    sent = {"username": "new", "is_active": "on", **passwords, **forms, **form}
    return browser.send(path, **sent).content.decode()


def plain_page():
    return page(the_user(BOSS), "change").replace(f"{the_user(BOSS).pk}/change", "add")


@SPELLINGS
def test_new_user_with_a_taken_address_is_refused_on_a_guarded_page(support, boss, email):
    number = get_user_model().objects.count()

    shown = add(support, guarded_page("add"), **{email_field(): email})

    assert EMAIL_TAKEN in shown
    assert get_user_model().objects.count() == number


@pytest.mark.skipif(has("username"), reason="its page of a new user has no address")
def test_new_user_with_a_taken_address_is_refused_on_a_page_with_accounts(root, boss):
    assert EMAIL_TAKEN in add(root, plain_page(), **{email_field(): "Boss@example.com"})

    assert get_user_model().objects.count() == 2


@named
@pytest.mark.parametrize("path", [plain_page, lambda: guarded_page("add")])
def test_new_user_with_a_taken_username_is_refused(root, boss, path):
    add(root, path(), username="BOSS")

    assert get_user_model().objects.count() == 2


def test_user_of_whom_nobody_has_an_identifier_is_added(support, boss):
    add(support, guarded_page("add"), **{email_field(): "new@example.com"})

    assert the_user("new@example.com")
