"""Who somebody is at signup: one account per address, name and number, however it is spelled."""

import pytest

from tests.client import PASSWORD
from tests.people import has, the_user, users

pytestmark = pytest.mark.django_db

TWINS = {
    "case of the domain": ("ann@example.com", "ann@EXAMPLE.com"),
    "case of the local part": ("ann@example.com", "Ann@example.com"),
    "normal form of the domain": ("ann@b\u00fccher.example", "ann@bu\u0308cher.example"),
    "case of an international domain": ("ann@b\u00fccher.example", "ann@B\u00dcCHER.example"),
    "IDNA form of the domain": ("ann@b\u00fccher.example", "ann@xn--bcher-kva.example"),
    "surrounding blanks": ("ann@example.com", "  ann@example.com "),
}
STRANGERS = {
    "a dot": ("ann.b@example.com", "annb@example.com"),
    "a tag": ("ann@example.com", "ann+tag@example.com"),
    "another domain": ("ann@example.com", "ann@example.org"),
}


@pytest.mark.parametrize("kind", TWINS)
def test_twins_of_an_address_are_one_account(api, kind):
    first, second = TWINS[kind]
    api.sign_up(first)

    answer = api.post("signup", email=second, username="other", password=PASSWORD)

    assert answer.error == (400, "USER_ALREADY_EXISTS")


@pytest.mark.parametrize("kind", TWINS)
def test_any_twin_of_an_address_logs_in(api, kind):
    first, second = TWINS[kind]
    api.sign_up(first)

    assert api.post("login", email=second, password=PASSWORD).status == 200


@pytest.mark.parametrize("kind", STRANGERS)
def test_addresses_that_may_be_two_boxes_are_two_accounts(api, kind):
    first, second = STRANGERS[kind]
    api.sign_up(first)

    assert api.post("signup", email=second, password=PASSWORD).status == 201


def test_an_address_is_kept_as_it_was_typed(api):
    assert api.sign_up("Ann.B@Example.COM")["user"]["email"] == "Ann.B@Example.COM"


def test_a_refused_signup_leaves_no_user(api):
    api.sign_up()

    api.post("signup", email="ben@example.com", username="x", password=PASSWORD)
    api.post("signup", email="ben@example.com", password="short")

    assert users() == 1


def test_a_username_is_made_of_the_local_part_where_the_model_needs_one(api):
    user = api.sign_up("ann.b+tag@example.com")["user"]

    assert user["username"] == ("ann.btag" if has("username") else "")


def test_a_made_username_that_is_taken_gets_a_suffix(api):
    api.sign_up("ann@example.com")

    username = api.sign_up("ann@example.org")["user"]["username"]

    assert not has("username") or username.startswith("ann-")


def test_a_made_username_avoids_one_that_differs_in_case(api):
    api.sign_up("ANN@example.com")

    username = api.sign_up("ann@example.org")["user"]["username"]

    assert not has("username") or username.startswith("ann-")


@pytest.mark.parametrize("local", ["a", "ab", "'''", "x" * 60])
def test_a_made_username_is_one_that_could_have_been_asked_for(api, local):
    username = api.sign_up(f"{local}@example.com")["user"]["username"]
    again = api.post("signup", email="other@example.com", username=username, password=PASSWORD)

    assert not username or again.error == (400, "USERNAME_ALREADY_EXISTS")


def test_the_made_username_logs_in(api):
    username = api.sign_up()["user"]["username"]

    assert not username or api.post("login", username=username, password=PASSWORD).status == 200


@pytest.mark.parametrize("username", ["ann", "A.b-c_9", "a" * 30, "..."])
def test_a_username_of_its_alphabet_is_taken_as_it_is(api, username):
    assert api.sign_up(username=username)["user"]["username"] == username


@pytest.mark.parametrize(
    "username", ["ab", "a" * 31, "a b", "a@b.c", "\u00e4nn", "ann\u200b", "\uff41nn", "-\u2010-"]
)
def test_a_username_beyond_its_alphabet_is_refused(api, username):
    answer = api.post("signup", email="ann@example.com", username=username, password=PASSWORD)

    assert answer.error == (400, "VALIDATION_ERROR")


@pytest.mark.parametrize("number", ["+4930123456", "+12025550143", "+442079460958"])
def test_a_number_in_e164_form_is_taken_as_it_is(api, number):
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
def test_a_number_in_another_form_or_that_cannot_be_is_refused(api, number):
    answer = api.post("signup", email="ann@example.com", password=PASSWORD, phone_number=number)

    assert answer.error == (400, "VALIDATION_ERROR")
    assert answer.data["message"].startswith("phone_number: ")


def test_two_without_a_number_do_not_collide(api):
    api.sign_up(phone_number="")

    assert api.sign_up("ben@example.com", phone_number="")["user"]["phone_number"] == ""


def test_the_host_sees_the_new_user(api):
    api.sign_up(first_name="Ann")

    assert the_user().check_password(PASSWORD)
