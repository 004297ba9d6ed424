"""What a new password must be, and that it is taken as typed."""

import pytest

from tests import hashing
from tests.people import has, users

pytestmark = pytest.mark.django_db

ASCII_LIMIT = "plum tart 42 " + "x" * 4083
WIDE_LIMIT = "plum tart 42" + "\u00fc" * 2042


def sign_up(api, password, **more):
    return api.post("signup", email="ann@example.com", password=password, **more)


def log_in(api, password):
    return api.post("login", email="ann@example.com", password=password)


def test_eight_characters_are_enough(api):
    assert sign_up(api, "plumTrt9").status == 201


def test_seven_are_not(api):
    assert sign_up(api, "plumTr9").error == (400, "INVALID_PASSWORD")


def test_characters_are_counted_not_bytes(api):
    assert sign_up(api, "\u00fc\u00f6\u00e4\u00df\u00fc\u00f6\u00e4").error == (
        400,
        "INVALID_PASSWORD",
    )


def test_characters_are_counted_once_composed(api):
    assert sign_up(api, "u\u0308" * 7).error == (400, "INVALID_PASSWORD")


@pytest.mark.parametrize("password", [ASCII_LIMIT, WIDE_LIMIT], ids=["ASCII", "two bytes each"])
def test_4096_bytes_are_allowed_and_all_of_them_count(api, password):
    assert len(password.encode()) == 4096
    assert sign_up(api, password).status == 201

    assert log_in(api, password[:-1] + "y").error == (401, "INVALID_CREDENTIALS")
    assert log_in(api, password).status == 200


@pytest.mark.parametrize("password", [ASCII_LIMIT + "x", WIDE_LIMIT + "x"], ids=["ASCII", "wide"])
def test_4097_bytes_are_refused_without_a_hash(api, password):
    with hashing.spied() as spy:
        answer = sign_up(api, password)

    assert answer.error == (400, "VALIDATION_ERROR")
    assert spy.made == []


def test_the_limit_is_of_the_normal_form(api):
    assert sign_up(api, "plum tart " + "u\u0308" * 2000).status == 201


@pytest.mark.parametrize(
    ("typed", "again"),
    [
        ("plum t\u00e4rt 42", "plum ta\u0308rt 42"),
        ("plum ta\u0308rt 42", "plum t\u00e4rt 42"),
    ],
)
def test_composed_and_decomposed_are_one_password(api, typed, again):
    sign_up(api, typed)

    assert log_in(api, again).status == 200


def test_compatible_characters_are_two_passwords(api):
    sign_up(api, "plum tart \uff14\uff12")

    assert log_in(api, "plum tart 42").error == (401, "INVALID_CREDENTIALS")


@pytest.mark.parametrize("typed", [" plum tart 42", "plum tart 42 ", "  plum tart  "])
def test_a_password_is_never_trimmed(api, typed):
    sign_up(api, typed)

    assert log_in(api, typed.strip()).error == (401, "INVALID_CREDENTIALS")
    assert log_in(api, typed).status == 200


def test_case_counts(api):
    sign_up(api, "Plum tart 42")

    assert log_in(api, "plum tart 42").error == (401, "INVALID_CREDENTIALS")


def test_beyond_72_bytes_every_byte_counts(api):
    sign_up(api, "plum tart " + "x" * 70 + "a")

    assert log_in(api, "plum tart " + "x" * 70 + "b").error == (401, "INVALID_CREDENTIALS")


@pytest.mark.parametrize("password", ["password", "12345678", "qwertyuiop"])
def test_the_validators_of_the_host_are_asked(api, password):
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
def test_the_validators_know_what_the_host_will_know_of_the_user(api, more):
    answer = sign_up(api, "bartholomew1", **more)

    assert answer.status == (400 if has(next(iter(more))) else 201)


def test_the_validators_know_the_address(api):
    answer = api.post("signup", email="bartholomew@example.com", password="bartholomew1")

    assert answer.error == (400, "INVALID_PASSWORD")


def test_validators_the_host_does_not_have_are_not_asked(api, settings):
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
def test_a_class_of_characters_can_be_asked_for(api, configure, rule, lacking, having):
    configure(CORE={f"REQUIRE_{rule}": True})

    assert sign_up(api, lacking).error == (400, "INVALID_PASSWORD")
    assert sign_up(api, having).status == 201


def test_a_refused_password_leaves_no_user(api):
    sign_up(api, "password")

    assert users() == 0


def test_a_refused_password_is_not_repeated_in_the_answer(api):
    assert "qwertyuiop" not in sign_up(api, "qwertyuiop").response.content.decode()


SHORT = "Must have at least 8 characters."


def asked_for(settings, length):
    settings.AUTH_PASSWORD_VALIDATORS = [
        *settings.AUTH_PASSWORD_VALIDATORS,
        {
            "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
            "OPTIONS": {"min_length": length},
        },
    ]


@pytest.mark.parametrize("length", [6, 8])
def test_a_short_password_is_told_the_rule_once(api, settings, length):
    asked_for(settings, length)

    assert sign_up(api, "plmT9").data["message"] == f"password: {SHORT}"


def test_a_short_password_is_told_the_stricter_rule_of_the_project(api, settings):
    asked_for(settings, 12)
    said = sign_up(api, "plmT9").data["message"]

    assert said.count("characters") == 1
    assert "12 characters" in said


def test_a_short_password_is_told_the_other_rules_too(api, settings, configure):
    asked_for(settings, 8)
    configure(CORE={"REQUIRE_SYMBOL": True})
    said = sign_up(api, "12345").data["message"]

    assert said.count("characters") == 1
    assert "neither a letter nor a digit" in said
    assert "entirely numeric" in said
