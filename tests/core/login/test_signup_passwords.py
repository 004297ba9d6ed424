"""The requirements for a new password, and that it is stored as typed."""

import pytest

from tests.support import hashing
from tests.support.people import has, users

pytestmark = pytest.mark.django_db

ASCII_LIMIT = "plum tart 42 " + "x" * 4083
WIDE_LIMIT = "plum tart 42" + "\u00fc" * 2042


def sign_up(api, password, **more):
    return api.post("signup", email="ann@example.com", password=password, **more)


def log_in(api, password):
    return api.post("login", email="ann@example.com", password=password)


def test_password_of_eight_characters_is_accepted(api):
    assert sign_up(api, "plumTrt9").status == 201


def test_password_of_seven_characters_is_refused(api):
    assert sign_up(api, "plumTr9").error == (400, "INVALID_PASSWORD")


def test_password_length_is_counted_in_characters_not_bytes(api):
    assert sign_up(api, "\u00fc\u00f6\u00e4\u00df\u00fc\u00f6\u00e4").error == (
        400,
        "INVALID_PASSWORD",
    )


def test_password_length_is_counted_after_composition(api):
    assert sign_up(api, "u\u0308" * 7).error == (400, "INVALID_PASSWORD")


@pytest.mark.parametrize("password", [ASCII_LIMIT, WIDE_LIMIT], ids=["ASCII", "two bytes each"])
def test_password_of_4096_bytes_is_accepted_and_every_byte_counts(api, password):
    assert len(password.encode()) == 4096
    assert sign_up(api, password).status == 201

    assert log_in(api, password[:-1] + "y").error == (401, "INVALID_CREDENTIALS")
    assert log_in(api, password).status == 200


@pytest.mark.parametrize("password", [ASCII_LIMIT + "x", WIDE_LIMIT + "x"], ids=["ASCII", "wide"])
def test_password_of_4097_bytes_is_refused_without_a_hash(api, password):
    with hashing.spied() as spy:
        answer = sign_up(api, password)

    assert answer.error == (400, "VALIDATION_ERROR")
    assert spy.made == []


def test_password_limit_applies_to_the_normal_form(api):
    assert sign_up(api, "plum tart " + "u\u0308" * 2000).status == 201


@pytest.mark.parametrize(
    ("typed", "again"),
    [
        ("plum t\u00e4rt 42", "plum ta\u0308rt 42"),
        ("plum ta\u0308rt 42", "plum t\u00e4rt 42"),
    ],
)
def test_password_composed_or_decomposed_is_the_same(api, typed, again):
    sign_up(api, typed)

    assert log_in(api, again).status == 200


def test_password_with_compatibility_characters_is_different(api):
    sign_up(api, "plum tart \uff14\uff12")

    assert log_in(api, "plum tart 42").error == (401, "INVALID_CREDENTIALS")


@pytest.mark.parametrize("typed", [" plum tart 42", "plum tart 42 ", "  plum tart  "])
def test_password_is_never_trimmed(api, typed):
    sign_up(api, typed)

    assert log_in(api, typed.strip()).error == (401, "INVALID_CREDENTIALS")
    assert log_in(api, typed).status == 200


def test_password_is_case_sensitive(api):
    sign_up(api, "Plum tart 42")

    assert log_in(api, "plum tart 42").error == (401, "INVALID_CREDENTIALS")


def test_password_beyond_72_bytes_is_compared_to_the_last_byte(api):
    sign_up(api, "plum tart " + "x" * 70 + "a")

    assert log_in(api, "plum tart " + "x" * 70 + "b").error == (401, "INVALID_CREDENTIALS")


@pytest.mark.parametrize("password", ["password", "12345678", "qwertyuiop"])
def test_password_validators_of_the_host_are_applied(api, password):
    assert sign_up(api, password).error == (400, "INVALID_PASSWORD")


@pytest.mark.parametrize(
    "more",
    [
        {"first_name": "Bartholomew"},
        {"last_name": "Bartholomew"},
        {"username": "bartholomew"},
    ],
    ids=lambda more: next(iter(more)),
)
def test_password_validators_receive_the_attributes_that_the_host_stores(api, more):
    answer = sign_up(api, "bartholomew1", **more)

    assert answer.status == (400 if has(next(iter(more))) else 201)


def test_password_validators_receive_the_address(api):
    answer = api.post("signup", email="bartholomew@example.com", password="bartholomew1")

    assert answer.error == (400, "INVALID_PASSWORD")


def test_password_validators_the_host_does_not_configure_are_not_applied(api, settings):
    settings.AUTH_PASSWORD_VALIDATORS = []

    assert sign_up(api, "password").status == 201


@pytest.mark.parametrize(
    ("rule", "lacking", "having"),
    [
        ("UPPERCASE", "plum tart 42", "Plum tart 42"),
        ("LOWERCASE", "PLUM TART 42", "PLUM tART 42"),
        ("DIGIT", "plum tart xx", "plum tart x2"),
        ("SYMBOL", "plumtart42x", "plumtart42!"),
    ],
)
def test_password_can_be_required_to_have_a_class_of_characters(
    api, configure, rule, lacking, having
):
    configure(CORE={f"REQUIRE_{rule}": True})

    assert sign_up(api, lacking).error == (400, "INVALID_PASSWORD")
    assert sign_up(api, having).status == 201


def test_refused_password_creates_no_user(api):
    sign_up(api, "password")

    assert users() == 0


def test_refused_password_is_not_repeated_in_the_response(api):
    assert "qwertyuiop" not in sign_up(api, "qwertyuiop").response.content.decode()


SHORT = "Must have at least 8 characters."


def require_length(settings, length):
    settings.AUTH_PASSWORD_VALIDATORS = [
        *settings.AUTH_PASSWORD_VALIDATORS,
        {
            "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
            "OPTIONS": {"min_length": length},
        },
    ]


@pytest.mark.parametrize("length", [6, 8])
def test_short_password_error_has_the_length_rule_once(api, settings, length):
    require_length(settings, length)

    assert sign_up(api, "plmT9").data["message"] == f"password: {SHORT}"


def test_short_password_error_has_the_stricter_rule_of_the_host(api, settings):
    require_length(settings, 12)
    message = sign_up(api, "plmT9").data["message"]

    assert message.count("characters") == 1
    assert "12 characters" in message


def test_short_password_error_has_the_other_rules_too(api, settings, configure):
    require_length(settings, 8)
    configure(CORE={"REQUIRE_SYMBOL": True})
    message = sign_up(api, "12345").data["message"]

    assert message.count("characters") == 1
    assert "neither a letter nor a digit" in message
    assert "entirely numeric" in message
