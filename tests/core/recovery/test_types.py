"""These routes convert no types: a wrong type is refused with the name of its field."""

import pytest

from tests.contract.shapes import is_refusal
from tests.support.client import PASSWORD
from tests.support.flows import ANN, NEW, PHONE
from tests.support.routes import paths

pytestmark = pytest.mark.django_db

GOOD = {
    "PUT profile": {"name": "Ann", "phone": PHONE, "avatar": "https://example.com/a.png"},
    "PUT change-password": {"old_password": PASSWORD, "new_password": NEW},
    "POST is-available": {"email": ANN, "username": "ann", "phone": PHONE},
    "POST forgot-password": {"email": ANN, "phone": PHONE},
    "POST reset-password": {
        "token": "A" * 43,
        "email": ANN,
        "code": "123456",
        "phone": PHONE,
        "new_password": NEW,
    },
    "POST send-verification-email": {"email": ANN},
    "POST resend-verification-email": {"email": ANN},
    "POST send-verification-phone": {"phone": PHONE},
    "POST resend-verification-phone": {"phone": PHONE},
    "POST verify-phone": {"phone": PHONE, "code": "123456"},
}
FIELDS = [(route, field) for route, body in GOOD.items() for field in body]
OTHERS = [7, 123456, 1.5, True, ["ann"], {"ann": "ann"}]
# On PUT /profile null means omitted; a code is checked by its own rule.
NULLABLE = [pair for pair in FIELDS if pair[0] != "PUT profile"]
TEXTS = [pair for pair in FIELDS if pair[1] != "code"]


@pytest.fixture
def ask(robust):
    token = robust.sign_up()["access_token"]

    def ask(route, body):
        method, path = route.split()
        return robust.request(method, path, body, token=token)

    return ask


def test_routes_and_methods_exist():
    found = {f"{method} {path}" for path, methods in paths().items() for method in methods}

    assert {*GOOD, "GET verify-email"} <= found


@pytest.mark.parametrize(("route", "field"), FIELDS)
@pytest.mark.parametrize("other", OTHERS, ids=repr)
def test_value_that_is_no_string_is_refused(ask, route, field, other):
    answer = ask(route, {**GOOD[route], field: other})

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"] == f"{field}: Must be a string."


@pytest.mark.parametrize(("route", "field"), NULLABLE)
def test_null_is_refused(ask, route, field):
    answer = ask(route, {**GOOD[route], field: None})

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"] == f"{field}: This field may not be null."


@pytest.mark.parametrize(("route", "field"), TEXTS)
@pytest.mark.parametrize("text", ["a\x00b", "a\nb", "\ud800"], ids=ascii)
def test_control_characters_and_broken_unicode_are_refused(ask, route, field, text):
    answer = ask(route, {**GOOD[route], field: text})

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"] == (
        f"{field}: Must not contain control characters or broken Unicode."
    )
