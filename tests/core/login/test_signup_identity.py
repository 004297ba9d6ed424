"""Identifiers at sign-up: one account per address, username and number, in any form."""

import pytest

from tests.support.client import PASSWORD
from tests.support.people import has, the_user, users

pytestmark = pytest.mark.django_db

EQUIVALENT = {
    "case of the domain": ("ann@example.com", "ann@EXAMPLE.com"),
    "case of the local part": ("ann@example.com", "Ann@example.com"),
    "normal form of the domain": ("ann@b\u00fccher.example", "ann@bu\u0308cher.example"),
    "case of an international domain": ("ann@b\u00fccher.example", "ann@B\u00dcCHER.example"),
    "IDNA form of the domain": ("ann@b\u00fccher.example", "ann@xn--bcher-kva.example"),
    "surrounding blanks": ("ann@example.com", "  ann@example.com "),
}
DIFFERENT = {
    "a dot": ("ann.b@example.com", "annb@example.com"),
    "a tag": ("ann@example.com", "ann+tag@example.com"),
    "another domain": ("ann@example.com", "ann@example.org"),
}


@pytest.mark.parametrize("kind", EQUIVALENT)
def test_signup_with_an_equivalent_address_is_refused(api, kind):
    first, second = EQUIVALENT[kind]
    api.sign_up(first)

    answer = api.post("signup", email=second, username="other", password=PASSWORD)

    assert answer.error == (400, "USER_ALREADY_EXISTS")


@pytest.mark.parametrize("kind", EQUIVALENT)
def test_login_with_an_equivalent_address_succeeds(api, kind):
    first, second = EQUIVALENT[kind]
    api.sign_up(first)

    assert api.post("login", email=second, password=PASSWORD).status == 200


@pytest.mark.parametrize("kind", DIFFERENT)
def test_signup_with_addresses_of_two_possible_mailboxes_creates_two_accounts(api, kind):
    first, second = DIFFERENT[kind]
    api.sign_up(first)

    assert api.post("signup", email=second, password=PASSWORD).status == 201


def test_signup_keeps_the_address_as_typed(api):
    assert api.sign_up("Ann.B@Example.COM")["user"]["email"] == "Ann.B@Example.COM"


def test_refused_signup_creates_no_user(api):
    api.sign_up()

    api.post("signup", email="ben@example.com", username="x", password=PASSWORD)
    api.post("signup", email="ben@example.com", password="short")

    assert users() == 1


def test_generated_username_is_the_local_part_if_the_model_needs_one(api):
    user = api.sign_up("ann.b+tag@example.com")["user"]

    assert user["username"] == ("ann.btag" if has("username") else "")


def test_generated_username_that_is_taken_gets_a_suffix(api):
    api.sign_up("ann@example.com")

    username = api.sign_up("ann@example.org")["user"]["username"]

    assert not has("username") or username.startswith("ann-")


def test_generated_username_avoids_one_that_differs_in_case_only(api):
    api.sign_up("ANN@example.com")

    username = api.sign_up("ann@example.org")["user"]["username"]

    assert not has("username") or username.startswith("ann-")


@pytest.mark.parametrize("local", ["a", "ab", "'''", "x" * 60])
def test_generated_username_is_valid_as_a_requested_username(api, local):
    username = api.sign_up(f"{local}@example.com")["user"]["username"]
    again = api.post("signup", email="other@example.com", username=username, password=PASSWORD)

    assert not username or again.error == (400, "USERNAME_ALREADY_EXISTS")


def test_generated_username_logs_in(api):
    username = api.sign_up()["user"]["username"]

    assert not username or api.post("login", username=username, password=PASSWORD).status == 200


@pytest.mark.parametrize("username", ["ann", "A.b-c_9", "a" * 30, "..."])
def test_username_of_allowed_characters_is_kept(api, username):
    assert api.sign_up(username=username)["user"]["username"] == username


@pytest.mark.parametrize(
    "username", ["ab", "a" * 31, "a b", "a@b.c", "\u00e4nn", "ann\u200b", "\uff41nn", "-\u2010-"]
)
def test_username_with_other_characters_or_length_is_refused(api, username):
    answer = api.post("signup", email="ann@example.com", username=username, password=PASSWORD)

    assert answer.error == (400, "VALIDATION_ERROR")


@pytest.mark.parametrize("number", ["+4930123456", "+12025550143", "+442079460958"])
def test_number_in_e164_form_is_kept(api, number):
    assert api.sign_up(phone_number=number)["user"]["phone_number"] == number


@pytest.mark.parametrize(
    "number",
    [
        "4930123456",
        "+0930123456",
        "+49 30 123456",
        " +4930123456",
        "+4930123456 ",
        "+49-30-123456",
        "+493012",
        "+4930123456789012",
        "0049301234567",
        "+\uff14\uff1930123456",
        "+\u0664\u066930123456",
        "tel:+4930123456",
        "+99912345678",
        "+1202555",
    ],
)
def test_number_in_another_form_or_impossible_is_refused(api, number):
    answer = api.post("signup", email="ann@example.com", password=PASSWORD, phone_number=number)

    assert answer.error == (400, "VALIDATION_ERROR")
    assert answer.data["message"].startswith("phone_number: ")


def test_signup_of_two_users_without_a_number_succeeds(api):
    api.sign_up(phone_number="")

    assert api.sign_up("ben@example.com", phone_number="")["user"]["phone_number"] == ""


def test_signup_creates_a_user_of_the_host(api):
    api.sign_up(first_name="Ann")

    assert the_user().check_password(PASSWORD)
