"""POST /login."""

import pytest

from tests.contract.shapes import AUTH, fits, is_refusal
from tests.support.client import PASSWORD
from tests.support.people import deactivate

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _ann(api):
    api.sign_up(username="ann")


@pytest.mark.parametrize("name", [{"email": "ann@example.com"}, {"username": "ann"}])
def test_login_is_200_with_exactly_the_auth_response(api, name):
    answer = api.post("login", password=PASSWORD, **name)

    assert answer.status == 200
    assert list(answer.body) == ["data"]
    assert fits(answer.data, AUTH)


def test_login_returns_the_user_of_the_signup(api):
    assert api.log_in()["user"]["username"] == "ann"


def test_login_sets_last_login_at(api, clock):
    assert api.log_in()["user"]["last_login_at"] == "2030-01-01T12:00:00.000000Z"


@pytest.mark.parametrize("email", ["ANN@example.com", "ann@EXAMPLE.COM", " ann@example.com "])
def test_login_email_ignores_case_and_surrounding_blanks(api, email):
    assert api.post("login", email=email, password=PASSWORD).status == 200


def test_login_username_ignores_case(api):
    assert api.post("login", username="ANN", password=PASSWORD).status == 200


def test_login_treats_empty_identifier_as_absent(api):
    assert api.post("login", email="", username="ann", password=PASSWORD).status == 200


def test_login_with_wrong_password_is_invalid_credentials(api):
    answer = api.post("login", email="ann@example.com", password="wrong")

    assert is_refusal(answer, 401, "INVALID_CREDENTIALS")


def test_login_401_names_the_bearer_scheme(api):
    answer = api.post("login", email="ann@example.com", password="wrong")

    assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "names", [{}, {"email": "", "username": ""}, {"email": "ann@example.com", "username": "ann"}]
)
def test_login_requires_exactly_one_identifier(api, names):
    answer = api.post("login", password=PASSWORD, **names)

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"] == "email: Exactly one of email and username is required."


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"password": ""}, "password: This field may not be blank."),
        ({"password": "x" * 4097}, "password: Must not exceed 4096 bytes."),
        (
            {"email": "a" * 255},
            "email: Ensure this field has no more than 254 characters.",
        ),
        (
            {"email": "", "username": "a" * 255},
            "username: Ensure this field has no more than 254 characters.",
        ),
    ],
)
def test_login_validation_error_names_field_and_rule(api, change, message):
    answer = api.post("login", **{"email": "ann@example.com", "password": PASSWORD, **change})

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"] == message


def test_login_without_password_is_a_validation_error(api):
    answer = api.post("login", email="ann@example.com")

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"] == "password: This field is required."


def test_login_of_inactive_user_is_user_not_active(api):
    deactivate()

    answer = api.post("login", email="ann@example.com", password=PASSWORD)

    assert is_refusal(answer, 403, "USER_NOT_ACTIVE")


def test_login_with_unverified_email_is_email_not_verified_if_required(api, configure):
    configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})

    answer = api.post("login", email="ann@example.com", password=PASSWORD)

    assert is_refusal(answer, 403, "EMAIL_NOT_VERIFIED")


def test_login_with_unverified_phone_is_phone_not_verified_if_required(api, configure):
    configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})

    answer = api.post("login", email="ann@example.com", password=PASSWORD)

    assert is_refusal(answer, 403, "PHONE_NOT_VERIFIED")


def test_login_after_too_many_wrong_passwords_is_too_many_attempts(api):
    for _ in range(10):
        api.post("login", email="ann@example.com", password="wrong")

    answer = api.post("login", email="ann@example.com", password=PASSWORD)

    assert is_refusal(answer, 429, "TOO_MANY_ATTEMPTS")
    assert int(answer.headers["Retry-After"]) > 0


def test_login_response_is_not_cacheable(api):
    answer = api.post("login", email="ann@example.com", password=PASSWORD)

    assert answer.headers["Cache-Control"] == "no-store, private"
