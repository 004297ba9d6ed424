"""What a serializer of the host project gets from a body, and what error reports of it show."""

import pytest

from tests.abuse.reporting import found, reported
from tests.support.client import PASSWORD
from tests.support.flows import CommittingApi

pytestmark = pytest.mark.django_db

CONTROL = "about: Must not contain control characters or broken Unicode."
MARKS = "about: Must not contain more than 30 combining marks in a row."
DEEP = "a\u0301" + "\u0301" * 30


@pytest.fixture
def robust():
    return CommittingApi(raising=False)


def test_report_of_a_serializer_that_fails_at_signup_shows_no_password(use, sign_up, robust):
    use("Raising")

    with reported() as reports:
        body = {"email": "ann@example.com", "password": PASSWORD, "full_name": "Ann", "born": "x"}
        assert robust.post("signup", **{**body, "born": "1990-02-03"}).status == 500

    assert reports
    assert found(reports, {PASSWORD}) == set()


def test_report_of_a_serializer_that_fails_in_the_profile_shows_no_password(use, sign_up, robust):
    token = sign_up().data["access_token"]
    use("Raising")

    with reported() as reports:
        body = {"password": PASSWORD, "full_name": "Anna"}
        assert robust.request("PUT", "profile", body, token=token).status == 500

    assert reports
    assert found(reports, {PASSWORD}) == set()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("\x00", CONTROL),
        ({"a": ["\x00"]}, CONTROL),
        ({"\x00": 1}, CONTROL),
        ([[{"a": "\ud800"}]], CONTROL),
        ({"\udfff": {}}, CONTROL),
        ([{"a": DEEP}], MARKS),
        ({DEEP: None}, MARKS),
    ],
)
def test_text_that_no_database_stores_is_refused_at_any_depth(use, sign_up, value, message):
    use("Described")

    answer = sign_up(about=value)

    assert answer.error == (400, "VALIDATION_ERROR")
    assert answer.data["message"] == message


def test_other_values_are_accepted_at_any_depth(use, sign_up):
    use("Described")

    assert sign_up(about={"lines": ["a\nb\tc", 5, None, True, {"é": []}]}).status == 201
