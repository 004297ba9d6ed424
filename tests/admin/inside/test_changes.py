"""Changes of an account by staff, on its own page and on the page of its user."""

import pytest

from authservice.core.models import Account
from authservice.core.users import lookup
from tests.admin.inside.conftest import listed, page
from tests.support.client import PASSWORD
from tests.support.flows import prove
from tests.support.people import email_field, has, the_user

pytestmark = pytest.mark.django_db

OLD, NEW = "+4930123456", "+4930123457"


def account(email="ann@example.com"):
    return Account.objects.get(email=email)


def on_account_page(browser, **changes):
    """Save the page of the account."""
    form = {"name": "", "phone_number": OLD, "avatar": "", **_names(), **changes}
    return browser.send(page(account()), **form)


def on_user_page(browser, user_form=None, **changes):
    """Save the page of the user, with the account inline."""
    kept = account()
    prefix = "authservice_account"
    form = {"name": "", "phone_number": OLD, "avatar": "", "user": kept.pk, **_names(), **changes}
    management = {"TOTAL_FORMS": 1, "INITIAL_FORMS": 1, "MIN_NUM_FORMS": 0, "MAX_NUM_FORMS": 1}
    sent = {f"{prefix}-{name}": value for name, value in management.items()}
    sent |= {f"{prefix}-0-{name}": value for name, value in form.items()}
    return browser.send(page(the_user()), **{**_user(), **sent, **(user_form or {})})


def _names():
    own_fields = [name for name in ("first_name", "last_name") if not has(name)]
    return dict.fromkeys(own_fields, "")


def _user():
    user = the_user()
    form = {email_field(): "ann@example.com", "is_active": "on"}
    if has("username"):
        form |= {"username": user.username, "date_joined_0": "2030-01-01", "date_joined_1": "12:00"}
    return form


PAGES = pytest.mark.parametrize("save", [on_account_page, on_user_page])


@PAGES
def test_staff_change_a_name(root, ann, save):
    save(root, name="Ann Example")

    assert account().name == "Ann Example"
    assert account().updated_at is not None


@PAGES
def test_changed_number_is_unverified(root, ann, save):
    Account.objects.filter(pk=account().pk).update(verified_phone_key=account().phone_key)

    save(root, phone_number=NEW)

    person = lookup.find_by_phone(NEW)
    assert person.user == the_user()
    assert person.phone_number_verified is False
    assert lookup.find_by_phone(OLD) is None


@PAGES
def test_staff_remove_a_number(root, ann, save):
    save(root, phone_number="")

    assert (account().phone_number, account().phone_key) == ("", None)


@PAGES
@pytest.mark.parametrize("number", ["030123456", "+49 30 123456", "+0", "call me"])
def test_invalid_number_is_refused(root, ann, save, number):
    assert "E.164" in save(root, phone_number=number)

    assert account().phone_number == OLD


@PAGES
def test_number_of_another_user_is_refused(root, api, ann, save):
    api.sign_up("bob@example.com", phone_number=NEW)
    prove("bob@example.com", NEW)

    assert "Another account has this number." in save(root, phone_number=NEW)

    assert account().phone_number == OLD


@PAGES
def test_avatar_that_is_no_web_address_is_refused(root, ann, save):
    save(root, avatar="javascript:alert(1)")

    assert account().avatar == ""


@PAGES
def test_superuser_makes_a_super_admin(root, ann, save):
    save(root, is_super_admin="on")

    assert account().is_super_admin is True


@PAGES
def test_other_staff_cannot_make_a_super_admin(helper, ann, save):
    name = the_user()._meta.model_name
    browser = helper("change_account", f"change_{name}")

    save(browser, is_super_admin="on", name="Ann")

    assert account().is_super_admin is False
    assert account().name == "Ann"


@PAGES
def test_other_staff_cannot_demote_a_super_admin(helper, ann, save):
    Account.objects.update(is_super_admin=True)
    name = the_user()._meta.model_name

    save(helper("change_account", f"change_{name}"), name="Ann")

    assert account().is_super_admin is True


@PAGES
def test_view_permission_does_not_allow_changes(helper, ann, save):
    name = the_user()._meta.model_name

    save(helper("view_account", f"change_{name}"), name="Ann")

    assert account().name == ""


@PAGES
def test_read_only_fields_in_a_form_are_ignored(root, ann, save):
    save(root, email="other@example.com", token_version="7", email_key="x", created_at_0="2000")

    kept = Account.objects.get(user=the_user())
    assert (kept.email, kept.token_version) == ("ann@example.com", 0)


@PAGES
def test_change_is_recorded_as_action_of_staff(root, ann, recorded, save):
    save(root, name="Ann")

    (event,) = recorded("admin.user.updated")
    assert (event.user, event.target, event.actor_type) == (root.user, the_user(), "admin")
    assert event.metadata == {"name": {"before": "", "after": "Ann"}}


@PAGES
def test_saving_without_change_is_not_recorded(root, ann, recorded, save):
    save(root)

    assert account().updated_at is None
    assert recorded("admin.user.updated") == []


@PAGES
def test_change_of_a_name_keeps_the_sessions(root, api, ann, save):
    save(root, name="Ann")

    assert api.get("me", token=ann["access_token"]).data["name"] == "Ann"


def test_address_and_name_changed_together_are_both_saved(root, api, ann):
    on_user_page(root, {email_field(): "anna@example.com"}, name="Anna")

    kept = account("anna@example.com")
    assert kept.name == "Anna"
    assert lookup.find_by_email("anna@example.com").account == kept


def test_address_with_quotes_is_refused_on_the_page(root, ann):
    on_user_page(root, {email_field(): '"ann"@example.com'}, name="Anna")

    assert account("ann@example.com").name == ""


def test_page_of_a_new_user_has_no_account_inline(root):
    name = the_user("root@example.com")._meta
    shown = root.see(f"/admin/{name.app_label}/{name.model_name}/add/")

    assert "authservice_account-0-" not in shown


def test_new_user_added_on_the_page_gets_an_account(root):
    name = the_user("root@example.com")._meta
    passwords = {"password1": PASSWORD, "password2": PASSWORD, "usable_password": "true"}
    inline = {f"authservice_account-{part}_FORMS": 0 for part in ("TOTAL", "INITIAL")}
    form = {email_field(): "new@example.com", "username": "new", **passwords, **inline}

    root.send(f"/admin/{name.app_label}/{name.model_name}/add/", **form)

    assert Account.objects.count() == 2


def test_account_page_omits_names_that_the_user_model_has(root, ann):
    shown = root.see(page(account()))

    assert ('name="first_name"' in shown) is not has("first_name")
    assert 'name="active"' not in shown


def test_list_of_accounts_links_to_the_account_page(root, ann):
    assert page(account()) in root.see(listed("account"))
