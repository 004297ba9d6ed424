"""POST /signup."""

import pytest
from django.contrib.auth import get_user_model

from tests.contract.shapes import AUTH, UNVERIFIED, fits, is_refusal
from tests.support.client import PASSWORD
from tests.support.flows import prove
from tests.support.people import make_user, the_user

pytestmark = pytest.mark.django_db

EMAIL_IS_NATURAL = get_user_model().get_email_field_name() == get_user_model().USERNAME_FIELD
FULL = {
    "email": "ann@example.com",
    "username": "ann.1",
    "password": PASSWORD,
    "name": "Ann B. Cee",
    "first_name": "Ann",
    "last_name": "Cee",
    "phone_number": "+4930123456",
}


def test_signup_is_201_with_exactly_the_auth_response(api):
    answer = api.post("signup", **FULL)

    assert answer.status == 201
    assert list(answer.body) == ["data"]
    assert fits(answer.data, AUTH)


def test_signup_returns_the_user_as_sent(api):
    user = api.post("signup", **FULL).data["user"]

    assert {key: user[key] for key in FULL if key != "password"} == {
        key: value for key, value in FULL.items() if key != "password"
    }


def test_signup_user_is_active_and_unverified(api):
    user = api.post("signup", **FULL).data["user"]

    assert (user["active"], user["email_verified"], user["phone_number_verified"]) == (
        True,
        False,
        False,
    )


def test_signup_absent_texts_are_empty_strings(api):
    user = api.sign_up()["user"]

    assert {user[key] for key in ("name", "first_name", "last_name", "avatar", "phone_number")} == {
        ""
    }


def test_signup_leaves_updated_at_empty(api):
    assert api.sign_up()["user"]["updated_at"] is None


def test_signup_with_tokens_sets_last_login_at(api):
    assert api.sign_up()["user"]["last_login_at"] is not None


def test_signup_does_not_derive_name_from_first_and_last_name(api):
    assert api.sign_up(first_name="Ann", last_name="Cee")["user"]["name"] == ""


def test_signup_does_not_derive_first_and_last_name_from_name(api):
    user = api.sign_up(name="Ann Cee")["user"]

    assert (user["first_name"], user["last_name"]) == ("", "")


def test_signup_expires_in_is_fifteen_minutes(api):
    assert api.sign_up()["expires_in"] == 900


def test_signup_ignores_unknown_fields(api):
    user = api.sign_up(is_super_admin=True, is_superuser=True, active=False, id="7")["user"]

    assert user["active"] is True
    assert not getattr(the_user(), "is_superuser", False)


@pytest.mark.parametrize(
    "other", [{"email": "ann@example.com"}, {"email": "ANN@Example.COM", "username": "other"}]
)
def test_signup_with_taken_email_is_user_already_exists(api, other):
    api.sign_up()

    answer = api.post("signup", password=PASSWORD, **other)

    assert is_refusal(answer, 400, "USER_ALREADY_EXISTS")


@pytest.mark.parametrize("username", ["ann", "ANN", "Ann"])
def test_signup_with_taken_username_is_username_already_exists(api, username):
    api.sign_up(username="ann")

    answer = api.post("signup", email="b@example.com", username=username, password=PASSWORD)

    assert is_refusal(answer, 400, "USERNAME_ALREADY_EXISTS")


def test_signup_with_taken_phone_number_is_phone_already_in_use(api):
    api.sign_up(phone_number="+4930123456")
    prove(phone="+4930123456")

    answer = api.post(
        "signup", email="b@example.com", password=PASSWORD, phone_number="+4930123456"
    )

    assert is_refusal(answer, 400, "PHONE_ALREADY_IN_USE")


@pytest.mark.parametrize(
    "mode",
    [{}, {"REQUIRE_EMAIL_VERIFICATION": True}, {"REQUIRE_PHONE_VERIFICATION": True}],
    ids=str,
)
@pytest.mark.parametrize(
    ("taken", "code"),
    [
        (("email", "username", "phone_number"), "USER_ALREADY_EXISTS"),
        (("email", "phone_number"), "USER_ALREADY_EXISTS"),
        (("email", "username"), "USER_ALREADY_EXISTS"),
        (("username", "phone_number"), "USERNAME_ALREADY_EXISTS"),
        (("phone_number",), "PHONE_ALREADY_IN_USE"),
    ],
)
def test_signup_reports_a_taken_email_then_username_then_phone(api, configure, mode, taken, code):
    """A user who signs up again with the same form learns that they have an account."""
    configure(CORE=mode)
    first = {"email": "ann@example.com", "username": "ann", "phone_number": "+4930123456"}
    other = {"email": "bob@example.com", "username": "bob", "phone_number": "+4930123457"}
    api.post("signup", password=PASSWORD, **first)
    prove(phone=first["phone_number"])

    again = {**other, **{name: first[name] for name in taken}}
    answer = api.post("signup", password=PASSWORD, **again)

    assert is_refusal(answer, 400, code)


def test_signup_with_address_of_a_user_of_the_host_is_user_already_exists(api):
    make_user("ann@example.com", username="host-made")

    answer = api.post("signup", email="ann@example.com", password=PASSWORD)

    assert is_refusal(answer, 400, "USER_ALREADY_EXISTS")


def test_signup_with_weak_password_is_invalid_password(api):
    answer = api.post("signup", email="ann@example.com", password="short1!")

    assert is_refusal(answer, 400, "INVALID_PASSWORD")
    assert answer.data["message"] == "password: Must have at least 8 characters."


def test_signup_while_disabled_is_signup_disabled(api, configure):
    configure(CORE={"ALLOW_SIGNUP": False})

    answer = api.post("signup", email="ann@example.com", password=PASSWORD)

    assert is_refusal(answer, 403, "SIGNUP_DISABLED")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"email": "nobody"}, "email: Must be an e-mail address."),
        ({"email": "a@b@example.com"}, "email: Must be an e-mail address."),
        ({"email": "a b@example.com"}, "email: Must be an e-mail address."),
        ({"email": "a" * 243 + "@example.com"}, "email: Must be an e-mail address."),
        (
            {"username": "ab"},
            "username: Must be 3 to 30 of the characters A-Z, a-z, 0-9, '_', '.' and '-'.",
        ),
        (
            {"username": "ann@example"},
            "username: Must be 3 to 30 of the characters A-Z, a-z, 0-9, '_', '.' and '-'.",
        ),
        (
            {"username": "a" * 31},
            "username: Must be 3 to 30 of the characters A-Z, a-z, 0-9, '_', '.' and '-'.",
        ),
        (
            {"phone_number": "030123456"},
            "phone_number: Must be a possible number in E.164 form, as +4930123456.",
        ),
        ({"name": "n" * 256}, "name: Ensure this field has no more than 255 characters."),
        (
            {"first_name": "n" * 151},
            "first_name: Ensure this field has no more than 150 characters.",
        ),
        ({"last_name": "n" * 151}, "last_name: Ensure this field has no more than 150 characters."),
        ({"password": ""}, "password: This field may not be blank."),
        ({"password": "x" * 4097}, "password: Must not exceed 4096 bytes."),
        ({"password": "ü" * 2049}, "password: Must not exceed 4096 bytes."),
        ({"name": "a\x00b"}, "name: Must not contain control characters or broken Unicode."),
    ],
)
def test_signup_validation_error_names_field_and_rule(api, change, message):
    answer = api.post("signup", **{**FULL, **change})

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"] == message


def test_signup_without_password_is_a_validation_error(api):
    answer = api.post("signup", email="ann@example.com")

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"] == "password: This field is required."


@pytest.mark.parametrize("absent", [{}, {"email": "", "username": ""}, {"email": "  "}])
def test_signup_without_identifier_is_a_validation_error(api, absent):
    answer = api.post("signup", password=PASSWORD, **absent)

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"].startswith("email: ")


def test_signup_with_username_alone_requires_a_user_model_without_email_login(api):
    answer = api.post("signup", username="ann", password=PASSWORD)

    if EMAIL_IS_NATURAL:
        assert is_refusal(answer, 400, "VALIDATION_ERROR")
    else:
        assert (answer.data["user"]["username"], answer.data["user"]["email"]) == ("ann", "")


def test_signup_returns_no_tokens_if_verification_is_required(api, configure):
    configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})

    answer = api.post("signup", **FULL)

    assert answer.status == 201
    assert fits(answer.data, UNVERIFIED)


def test_signup_response_is_not_cacheable(api):
    assert api.post("signup", **FULL).headers["Cache-Control"] == "no-store, private"
