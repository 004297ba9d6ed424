"""PUT /change-password: it needs the old password and ends all other sessions."""

import pytest

from authservice.core.messages import kinds
from tests.contract.shapes import is_refusal
from tests.support import hashing
from tests.support.client import PASSWORD
from tests.support.flows import ANN, NEW, account
from tests.support.interleaved import once_counted
from tests.support.people import has

pytestmark = pytest.mark.django_db

WRONG = "not " + PASSWORD


@pytest.fixture
def change(api, ann):
    """Changes the password of the first user, by default in the session of her sign-up."""

    def change(token="", **more):
        body = {"old_password": PASSWORD, "new_password": NEW, **more}
        return api.request("PUT", "change-password", body, token=token or ann["access_token"])

    return change


def test_success_returns_200_with_a_message_only(change):
    answer = change()

    assert answer.status == 200
    assert list(answer.body) == ["data"]
    assert list(answer.data) == ["message"]


def test_new_password_is_accepted_and_the_old_one_refused(api, change):
    change()

    assert api.post("login", email=ANN, password=PASSWORD).error == (401, "INVALID_CREDENTIALS")
    assert api.post("login", email=ANN, password=NEW).status == 200


def test_session_of_the_request_stays_valid(api, change, ann):
    change()

    assert api.get("me", token=ann["access_token"]).status == 200
    assert api.post("refresh", refresh_token=ann["refresh_token"]).status == 200


def test_every_other_session_ends(api, change):
    others = [api.log_in(), api.log_in()]

    change()

    assert {api.get("me", token=one["access_token"]).error for one in others} == {
        (401, "INVALID_TOKEN")
    }
    assert {api.post("refresh", refresh_token=one["refresh_token"]).error for one in others} == {
        (401, "INVALID_REFRESH_TOKEN")
    }


def test_session_of_another_user_stays_valid(api, change):
    other = api.sign_up("ben@example.com")["access_token"]

    change()

    assert api.get("me", token=other).status == 200


def test_session_that_had_ended_stays_ended(api, change, ann):
    other = api.log_in()
    change(other["access_token"])

    change(other["access_token"], old_password=NEW, new_password=PASSWORD)

    assert api.get("me", token=ann["access_token"]).error == (401, "INVALID_TOKEN")


def test_wrong_old_password_is_invalid_credentials(change):
    answer = change(old_password=WRONG)

    assert is_refusal(answer, 401, "INVALID_CREDENTIALS")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_wrong_old_password_changes_nothing(change):
    before = account().user.password

    change(old_password=WRONG)

    assert account().user.password == before


def test_wrong_old_password_is_refused_as_throttled_after_ten_attempts(change):
    errors = [change(old_password=WRONG).error for _ in range(11)]

    assert errors == [(401, "INVALID_CREDENTIALS")] * 10 + [(429, "TOO_MANY_ATTEMPTS")]


def test_right_old_password_beyond_the_attempts_is_refused_with_retry_after(clock, change):
    for _ in range(10):
        change(old_password=WRONG)

    answer = change()

    assert is_refusal(answer, 429, "TOO_MANY_ATTEMPTS")
    assert int(answer.headers["Retry-After"]) in (900, 901)


def test_attempts_of_all_sessions_are_counted_together(api, change):
    tokens = [api.log_in()["access_token"] for _ in range(2)]
    for number in range(10):
        change(tokens[number % 2], old_password=WRONG)

    assert change().error == (429, "TOO_MANY_ATTEMPTS")


def test_attempts_at_one_user_do_not_count_for_another(api, change):
    for _ in range(10):
        change(old_password=WRONG)

    assert change(api.sign_up("ben@example.com")["access_token"]).status == 200


def test_attempts_are_limited_even_without_rate_limits(change, no_floods):
    for _ in range(10):
        change(old_password=WRONG)

    assert change().error == (429, "TOO_MANY_ATTEMPTS")


def test_attempt_beyond_the_limit_computes_no_hash(change):
    for _ in range(10):
        change(old_password=WRONG)

    with hashing.spied() as spy:
        change()

    assert spy.made == []


def test_success_does_not_count_as_an_attempt(change):
    passwords = [PASSWORD, NEW] * 6
    for old, new in zip(passwords, passwords[1:], strict=False):
        assert change(old_password=old, new_password=new).status == 200


@pytest.mark.parametrize("new", [PASSWORD, "short1!"])
def test_right_old_password_with_a_refused_new_one_does_not_count_as_an_attempt(change, new):
    for _ in range(10):
        change(new_password=new)

    assert change().status == 200


def test_unchanged_password_is_invalid_password(change):
    answer = change(new_password=PASSWORD)

    assert is_refusal(answer, 400, "INVALID_PASSWORD")
    assert answer.data["message"] == "new_password: Must differ from the old one."


def test_weak_password_is_invalid_password_with_the_name_of_its_field(change):
    answer = change(new_password="short1!")

    assert is_refusal(answer, 400, "INVALID_PASSWORD")
    assert answer.data["message"] == "new_password: Must have at least 8 characters."


@pytest.mark.skipif(not has("email"), reason="the host's users have nothing to be similar to")
def test_password_policy_of_the_host_gets_the_user(change):
    assert change(new_password=ANN).error == (400, "INVALID_PASSWORD")


def test_refused_password_ends_no_session(api, change):
    other = api.log_in()["access_token"]

    change(new_password="short1!")

    assert api.get("me", token=other).status == 200


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "old_password: This field is required."),
        ({"old_password": PASSWORD}, "new_password: This field is required."),
        ({"new_password": NEW}, "old_password: This field is required."),
        ({"old_password": "", "new_password": NEW}, "old_password: This field may not be blank."),
        (
            {"old_password": PASSWORD, "new_password": "x" * 4097},
            "new_password: Must not exceed 4096 bytes.",
        ),
    ],
)
def test_invalid_field_is_a_validation_error_that_names_field_and_rule(api, ann, body, message):
    answer = api.request("PUT", "change-password", body, token=ann["access_token"])

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"] == message


def test_password_is_not_trimmed(api, change):
    change(new_password=f"  {NEW}  ")

    assert api.post("login", email=ANN, password=NEW).status == 401
    assert api.post("login", email=ANN, password=f"  {NEW}  ").status == 200


def test_password_change_without_a_token_is_unauthorized(api):
    body = {"old_password": PASSWORD, "new_password": NEW}

    assert is_refusal(api.request("PUT", "change-password", body), 401, "UNAUTHORIZED")


def test_password_change_notifies_the_owner(change, proven, post):
    change()

    assert [(job.kind, job.target) for job in post.jobs] == [(kinds.PASSWORD_CHANGED, ANN)]


def test_address_that_is_not_proven_gets_no_notice(change, post):
    """Anyone can create accounts with such addresses: their notices would fill the queue."""
    assert change().status == 200

    assert post.jobs == []


def test_refused_password_change_sends_no_notice(change, post):
    change(old_password=WRONG)
    change(new_password="short1!")

    assert post.jobs == []


def test_session_that_ended_meanwhile_changes_no_password(api, change, ann, monkeypatch):
    once_counted(monkeypatch, lambda: api.post("logout", token=ann["access_token"]))

    assert change().error == (401, "INVALID_TOKEN")
    assert api.post("login", email=ANN, password=PASSWORD).status == 200
