"""The support page says in words why a user cannot log in."""

import re

import pytest
from django.utils.html import escape

from authservice.core.models import Account, Session
from authservice.core.staff import login_obstacles
from authservice.core.users import lookup
from authservice.core.users.user_model import host
from authservice.twofactor.models import Authenticator
from tests.staff_support.inside.conftest import ANN, account, lock_out, support_page
from tests.support.client import PASSWORD
from tests.support.people import change, deactivate, email_field, the_user
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db

FREE = "Nothing prevents a login with the right password."


@pytest.fixture
def page(root, ann):
    return lambda: root.see(support_page())


def blocking(page):
    """The texts of the obstacles that prevent a login."""
    return re.findall(r'<li class="error">([^<]*)', page)


def notes(page):
    return re.findall(r'<li class="warning">([^<]*)', page)


def test_user_without_obstacles_can_log_in(page):
    assert FREE in page()
    assert blocking(page()) == []


def test_lock_is_described_with_its_end_its_attempts_and_their_address(page, api):
    lock_out(api)

    assert blocking(page()) == ["Locked until 12:15 after 10 wrong passwords from 203.0.113.7."]
    assert FREE not in page()


def test_lock_names_three_addresses_and_counts_the_others(page, api, clock):
    for n in range(10):
        clock.forward(seconds=1)
        api.address = f"203.0.113.{n}"
        api.post("login", email=ANN, password="wrong")

    (text,) = blocking(page())
    assert text.endswith("from 203.0.113.9, 203.0.113.8, 203.0.113.7 and 7 more.")


def test_addresses_of_attempts_are_shown_to_readers_of_the_log_only(helper, ann, api):
    lock_out(api)

    shown = helper("view_account").see(support_page())
    assert blocking(shown) == ["Locked until 12:15 after 10 wrong passwords."]


def test_attempts_below_the_limit_do_not_lock(page, api):
    for _ in range(9):
        api.post("login", email=ANN, password="wrong")

    assert FREE in page()


def test_expired_lock_is_not_shown(page, api, clock):
    lock_out(api)
    clock.forward(minutes=16)

    assert FREE in page()
    assert api.post("login", email=ANN, password=PASSWORD).status == 200


def test_lock_until_another_day_is_shown_with_its_date(page, api, clock):
    clock.forward(hours=11, minutes=50)
    lock_out(api)

    assert blocking(page())[0].startswith("Locked until 2030-01-02 00:05 after")


def test_lock_of_the_password_change_does_not_prevent_a_login(page, api, ann):
    body = {"old_password": "wrong", "new_password": "another plum tart 42"}
    for _ in range(11):
        api.request("PUT", "change-password", body, token=ann["access_token"])

    assert FREE in page()
    assert any("wrong current passwords" in text for text in notes(page()))


def test_suspended_user_is_described(page):
    deactivate()

    assert blocking(page()) == ["Suspended: the user is not active."]


@pytest.mark.parametrize("required", [True, False])
def test_unverified_address_prevents_a_login_if_it_is_required(page, configure, required):
    configure(CORE={"REQUIRE_EMAIL_VERIFICATION": required})
    text = "The e-mail address is not verified"

    assert [found.startswith(text) for found in blocking(page())] == [True] * required
    assert [found.startswith(text) for found in notes(page())] == [True] * (not required)


def test_unverified_number_prevents_a_login_if_it_is_required(page, configure):
    configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})

    assert blocking(page()) == ["The phone number is not verified, and a login requires it."]


def test_missing_password_is_described(page):
    user = the_user()
    user.set_unusable_password()
    user.save()

    assert "There is no password. A password reset by e-mail sets one." in notes(page())


def test_missing_password_is_the_only_obstacle(page):
    change(ANN, password="!")

    shown = page()

    assert "Except for the missing password, nothing prevents a login." in shown
    assert (FREE in shown, blocking(shown)) == (False, [])


def test_missing_password_of_a_user_without_an_address_promises_no_mail(ann):
    person = lookup.get_person(the_user())
    person.user.set_unusable_password()
    setattr(person.user, email_field(), "")

    texts = [obstacle.text for obstacle in login_obstacles.obstacles(person)]

    assert "There is no password." in texts


def share():
    """Another user holds the keys of Ann's identifiers."""
    Account.objects.filter(pk=account().pk).update(email_key=None, username_key=None)


def test_login_name_that_another_user_has_in_another_spelling_finds_the_user(page, api):
    share()
    is_email = host().natural == host().email

    shown = page()

    assert (FREE in shown, blocking(shown)) == (True, [])
    name = "e-mail address" if is_email else "username"
    text = f"Another user has the same {name}: only the exact spelling finds this user."
    assert text in notes(shown)
    login = {"email": ANN} if is_email else {"username": account().username}
    assert api.post("login", **login, password=PASSWORD).status == 200


def test_address_that_another_user_has_too_is_described(page, monkeypatch):
    share()
    monkeypatch.setattr(lookup, "find_by_email", lambda text: None)
    monkeypatch.setattr(lookup, "find_by_username", lambda text: None)

    shown = page()

    (text, *_) = blocking(shown)
    assert text == "Another user has the same e-mail address: no login finds this user by it."
    assert FREE not in shown


# The second factor


@pytest.fixture
def enrolled(api, ann, clock):
    found = Person(api, token=ann["access_token"], user_id=ann["user"]["id"]).enrol()
    clock.forward(seconds=30)
    return found


def test_second_factor_is_described_with_its_backup_codes(page, enrolled):
    (text,) = [text for text in notes(page()) if "authenticator app" in text]

    assert text.startswith("A login needs a code of the authenticator app, or one of ")


def test_lock_of_the_second_factor_is_described(page, enrolled):
    for _ in range(11):
        enrolled.verify_login(enrolled.wrong_code())

    (text,) = blocking(page())
    assert text.startswith("Locked until 12:15 after 10 wrong codes of the app from ")


def test_required_second_factor_that_is_not_set_up_is_described(page, configure):
    configure(TWOFACTOR={"REQUIRED": "everybody"})

    text = "A second factor is required and not set up: the next login begins with it."
    assert text in notes(page())


def test_second_factor_is_hidden_without_its_permission(helper, enrolled):
    shown = helper("view_account").see(support_page())

    assert "authenticator app" not in shown.lower()
    assert Authenticator.objects.exists()


# Sessions


@pytest.mark.parametrize(
    ("change_state", "state"),
    [
        (lambda: None, "open"),
        (lambda: Session.objects.update(ended_at="2029-01-01T00:00:00Z"), "ended"),
        (lambda: Session.objects.update(idle_expires_at="2029-01-01T00:00:00Z"), "expired"),
        (lambda: Session.objects.update(token_version=7), "void: the user or the password"),
        (deactivate, "void: the user is suspended"),
    ],
)
def test_state_of_a_session_is_described(page, change_state, state):
    change_state()

    assert f"<td>{state}" in page()


def test_rights_of_a_superuser_are_shown(root, ann):
    change(ANN, is_superuser=True)

    assert "superuser, super admin" in root.see(support_page())


def test_text_of_users_is_escaped(root, ann):
    found = lookup.get_person(the_user()).account
    Account.objects.filter(pk=found.pk).update(name="<b>Ann</b>")

    shown = root.see(support_page())
    assert escape("<b>Ann</b>") in shown
    assert "<b>Ann</b>" not in shown
