"""No coercion: a value of another type is refused with the name of its field."""

import json

import pytest

from authservice.kernel.http import envelope
from tests.contract.shapes import is_refusal
from tests.support.client import PASSWORD

pytestmark = pytest.mark.django_db

GOOD = {
    "signup": {
        "email": "ann@example.com",
        "username": "ann",
        "password": PASSWORD,
        "name": "Ann",
        "first_name": "Ann",
        "last_name": "Cee",
        "phone_number": "+4930123456",
    },
    "login": {"email": "ann@example.com", "username": "ann", "password": PASSWORD},
    "refresh": {"refresh_token": "AAAA"},
}
FIELDS = [(path, field) for path, body in GOOD.items() for field in body]
OTHERS = [7, 0, 1.5, 10**40, True, False, ["ann"], [], {"ann": "ann"}, {}]
BLANK = ["\n", "\t", "\x1f", "\x85", " \x1c "]  # white space to Python
CONTROL = ["a\x00b", "a\x07b", "a\x1bb", "a\nb", "a\tb", "a\x7fb", "a\x85b", "\x00"]
SURROGATES = ["\ud800", "a\udfffb", "\udc00\ud800"]


def message(answer):
    return answer.data["message"]


@pytest.mark.parametrize(("path", "field"), FIELDS)
@pytest.mark.parametrize("other", OTHERS, ids=repr)
def test_field_of_another_type_is_refused(robust, path, field, other):
    answer = robust.post(path, **{**GOOD[path], field: other})

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert message(answer) == f"{field}: Must be a string."


@pytest.mark.parametrize(("path", "field"), FIELDS)
def test_field_of_null_is_refused(robust, path, field):
    answer = robust.post(path, **{**GOOD[path], field: None})

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert message(answer) == f"{field}: This field may not be null."


@pytest.mark.parametrize(("path", "field"), FIELDS)
@pytest.mark.parametrize("text", BLANK + CONTROL + SURROGATES, ids=ascii)
def test_field_with_control_characters_or_broken_unicode_is_refused(robust, path, field, text):
    answer = robust.post(path, **{**GOOD[path], field: text})

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert message(answer) == f"{field}: Must not contain control characters or broken Unicode."


@pytest.mark.parametrize("text", ["\x00", "\ud800"], ids=ascii)
def test_unknown_field_may_contain_any_text(robust, text):
    answer = robust.post("signup", **GOOD["signup"], unknown=text)

    assert answer.status == 201


def test_surrogate_pair_is_one_character(robust):
    raw = json.dumps({**GOOD["signup"], "name": "\N{GRINNING FACE}"})
    assert "\\ud83d\\ude00" in raw

    assert robust.request("POST", "signup", raw).data["user"]["name"] == "\N{GRINNING FACE}"


def test_text_is_nfc_normalised(robust):
    user = robust.sign_up(name="Ame\u0301lie")["user"]

    assert user["name"] == "Am\u00e9lie"


def test_text_is_trimmed(robust):
    assert robust.sign_up(name="  Ann  ")["user"]["name"] == "Ann"


def test_characters_beyond_the_basic_plane_survive(robust):
    text = "\N{GRINNING FACE} \N{OLD PERSIAN SIGN A} q\N{COMBINING ACUTE ACCENT}"

    token = robust.sign_up(name=text)["access_token"]

    assert robust.get("me", token=token).data["name"] == text


@pytest.mark.parametrize("text", CONTROL + SURROGATES, ids=ascii)
def test_choice_with_control_characters_or_broken_unicode_is_refused(robust, text):
    """The error message repeats a choice that is not valid, and UTF-8 cannot encode each text."""
    body = {"token": "x", "email": "ann@example.com", "decision": text}
    answer = robust.request("POST", "verify-email", body)

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert message(answer) == "decision: Must not contain control characters or broken Unicode."


def test_surrogate_in_a_text_of_the_project_is_replaced():
    response = envelope.answer({"name": "a\ud800b"})

    assert json.loads(response.content) == {"data": {"name": "a?b"}}
