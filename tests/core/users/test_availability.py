"""POST /is-available tells sign-up forms whether an identifier is free."""

import pytest

from tests.contract.shapes import fits, is_refusal
from tests.support.flows import ANN, OTHER_PHONE, PHONE, prove
from tests.support.people import has, make_user

pytestmark = pytest.mark.django_db

USERNAME_RULE = "username: Must be 3 to 30 of the characters A-Z, a-z, 0-9, '_', '.' and '-'."
PHONE_RULE = "phone: Must be a possible number in E.164 form, as +4930123456."
ONE = "email: Exactly one of email, username and phone is required."


@pytest.fixture(autouse=True)
def _ann(api):
    api.sign_up(username="ann", phone_number=PHONE)
    prove(phone=PHONE)


@pytest.mark.parametrize("email", ["ben@example.com", ANN])
def test_availability_success_is_200_with_available_field_and_message(api, email):
    answer = api.post("is-available", email=email)

    assert answer.status == 200
    assert list(answer.body) == ["data"]
    assert fits(answer.data, {"available": bool, "field": str, "message": str})


@pytest.mark.parametrize(
    ("field", "value", "free"),
    [
        ("email", "ben@example.com", True),
        ("email", ANN, False),
        ("email", "ANN@Example.COM", False),
        ("email", "  ann@example.com  ", False),
        ("username", "ben", True),
        ("username", "ann", False),
        ("username", "Ann", False),
        ("phone", OTHER_PHONE, True),
        ("phone", PHONE, False),
    ],
)
def test_availability_is_true_only_for_identifiers_without_a_user(api, field, value, free):
    answer = api.post("is-available", **{field: value})

    assert (answer.data["available"], answer.data["field"]) == (free, field)


@pytest.mark.parametrize("email", ["ben@example.com", "BEN@example.com"])
@pytest.mark.skipif(not has("email"), reason="the host's users have no address")
def test_availability_of_an_address_of_a_user_created_by_the_host_is_false(api, email):
    make_user("ben@example.com")

    assert api.post("is-available", email=email).data["available"] is False


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, ONE),
        ({"email": "", "username": "", "phone": ""}, ONE),
        ({"email": "  "}, ONE),
        ({"email": ANN, "username": "ann"}, ONE),
        ({"username": "ann", "phone": PHONE}, ONE),
        ({"email": ANN, "username": "ann", "phone": PHONE}, ONE),
        ({"email": "nobody"}, "email: Must be an e-mail address."),
        ({"username": "ab"}, USERNAME_RULE),
        ({"username": "a b c"}, USERNAME_RULE),
        ({"phone": "030123456"}, PHONE_RULE),
        ({"phone": f" {PHONE}"}, PHONE_RULE),
        ({"email": "a" * 255}, "email: Ensure this field has no more than 254 characters."),
    ],
)
def test_availability_of_an_invalid_identifier_names_field_and_rule(api, body, message):
    answer = api.post("is-available", **body)

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"] == message


def test_availability_is_limited_to_thirty_requests_a_minute(api, clock):
    statuses = [api.post("is-available", email=ANN).status for _ in range(31)]

    assert statuses == [200] * 30 + [429]


def test_availability_beyond_the_limit_is_too_many_requests(api, clock):
    for _ in range(30):
        api.post("is-available", email=ANN)

    answer = api.post("is-available", email=ANN)

    assert is_refusal(answer, 429, "TOO_MANY_REQUESTS")
    assert int(answer.headers["Retry-After"]) > 0
