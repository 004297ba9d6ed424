"""PUT /change-password: the old password is asked for, and only this sign-in goes on."""

import pytest

from authservice.kernel import message_queue
from tests import hashing
from tests.client import PASSWORD
from tests.contract.shapes import is_refusal
from tests.interleaved import once_counted
from tests.people import has
from tests.recovery.flows import ANN, NEW, account

pytestmark = pytest.mark.django_db

WRONG = "not " + PASSWORD


@pytest.fixture
def change(api, ann):
    """Change the password of the first user, with the token of her sign-up unless told."""

    def change(token="", **more):
        body = {"old_password": PASSWORD, "new_password": NEW, **more}
        return api.request("PUT", "change-password", body, token=token or ann["access_token"])

    return change


def test_a_success_is_200_with_exactly_a_message(change):
    answer = change()

    assert answer.status == 200
    assert list(answer.body) == ["data"]
    assert list(answer.data) == ["message"]


def test_the_new_password_opens_and_the_old_one_does_not(api, change):
    change()

    assert api.post("login", email=ANN, password=PASSWORD).error == (401, "INVALID_CREDENTIALS")
    assert api.post("login", email=ANN, password=NEW).status == 200


def test_this_sign_in_goes_on(api, change, ann):
    change()

    assert api.get("me", token=ann["access_token"]).status == 200
    assert api.post("refresh", refresh_token=ann["refresh_token"]).status == 200


def test_every_other_sign_in_ends(api, change):
    others = [api.log_in(), api.log_in()]

    change()

    assert {api.get("me", token=one["access_token"]).error for one in others} == {
        (401, "INVALID_TOKEN")
    }
    assert {api.post("refresh", refresh_token=one["refresh_token"]).error for one in others} == {
        (401, "INVALID_REFRESH_TOKEN")
    }


def test_other_people_are_not_touched_by_it(api, change):
    other = api.sign_up("ben@example.com")["access_token"]

    change()

    assert api.get("me", token=other).status == 200


def test_a_sign_in_that_had_ended_does_not_come_back(api, change, ann):
    other = api.log_in()
    change(other["access_token"])

    change(other["access_token"], old_password=NEW, new_password=PASSWORD)

    assert api.get("me", token=ann["access_token"]).error == (401, "INVALID_TOKEN")


def test_a_wrong_old_password_is_invalid_credentials(change):
    answer = change(old_password=WRONG)

    assert is_refusal(answer, 401, "INVALID_CREDENTIALS")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_wrong_old_password_changes_nothing(change):
    before = account().user.password

    change(old_password=WRONG)

    assert account().user.password == before


def test_ten_wrong_ones_are_judged_and_the_next_is_not(change):
    errors = [change(old_password=WRONG).error for _ in range(11)]

    assert errors == [(401, "INVALID_CREDENTIALS")] * 10 + [(429, "TOO_MANY_ATTEMPTS")]


def test_past_its_guesses_the_right_one_is_refused_and_told_when_to_come_back(clock, change):
    for _ in range(10):
        change(old_password=WRONG)

    answer = change()

    assert is_refusal(answer, 429, "TOO_MANY_ATTEMPTS")
    assert int(answer.headers["Retry-After"]) in (900, 901)


def test_guesses_of_all_sign_ins_are_counted_together(api, change):
    tokens = [api.log_in()["access_token"] for _ in range(2)]
    for guess in range(10):
        change(tokens[guess % 2], old_password=WRONG)

    assert change().error == (429, "TOO_MANY_ATTEMPTS")


def test_guesses_at_one_person_are_not_counted_at_another(api, change):
    for _ in range(10):
        change(old_password=WRONG)

    assert change(api.sign_up("ben@example.com")["access_token"]).status == 200


def test_guesses_are_limited_where_floods_are_not(change, no_floods):
    for _ in range(10):
        change(old_password=WRONG)

    assert change().error == (429, "TOO_MANY_ATTEMPTS")


def test_a_guess_past_the_limit_costs_no_hash(change):
    for _ in range(10):
        change(old_password=WRONG)

    with hashing.spied() as spy:
        change()

    assert spy.made == []


def test_a_success_is_no_guess(change):
    passwords = [PASSWORD, NEW] * 6
    for old, new in zip(passwords, passwords[1:], strict=False):
        assert change(old_password=old, new_password=new).status == 200


@pytest.mark.parametrize("new", [PASSWORD, "short1!"])
def test_a_right_old_password_beside_a_refused_new_one_is_no_guess(change, new):
    for _ in range(10):
        change(new_password=new)

    assert change().status == 200


def test_the_same_password_again_is_invalid_password(change):
    answer = change(new_password=PASSWORD)

    assert is_refusal(answer, 400, "INVALID_PASSWORD")
    assert answer.data["message"] == "new_password: Must differ from the old one."


def test_a_weak_password_is_invalid_password_by_the_name_of_its_field(change):
    answer = change(new_password="short1!")

    assert is_refusal(answer, 400, "INVALID_PASSWORD")
    assert answer.data["message"] == "new_password: Must have at least 8 characters."


@pytest.mark.skipif(not has("email"), reason="the host's users have nothing to be similar to")
def test_the_hosts_own_policy_knows_the_user(change):
    assert change(new_password=ANN).error == (400, "INVALID_PASSWORD")


def test_a_refused_password_ends_no_sign_in(api, change):
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
def test_a_broken_rule_is_a_validation_error_that_names_field_and_rule(api, ann, body, message):
    answer = api.request("PUT", "change-password", body, token=ann["access_token"])

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"] == message


def test_a_password_is_kept_as_typed(api, change):
    change(new_password=f"  {NEW}  ")

    assert api.post("login", email=ANN, password=NEW).status == 401
    assert api.post("login", email=ANN, password=f"  {NEW}  ").status == 200


def test_without_a_token_nobody_changes_a_password(api):
    body = {"old_password": PASSWORD, "new_password": NEW}

    assert is_refusal(api.request("PUT", "change-password", body), 401, "UNAUTHORIZED")


def test_the_owner_hears_of_it(change, proven, post):
    change()

    assert [(job.kind, job.target) for job in post.jobs] == [(message_queue.PASSWORD_CHANGED, ANN)]


def test_address_that_was_not_proven_gets_no_notice(change, post):
    """Accounts with such addresses are free: their notices would fill the queue."""
    assert change().status == 200

    assert post.jobs == []


def test_a_refusal_is_not_written_about(change, post):
    change(old_password=WRONG)
    change(new_password="short1!")

    assert post.jobs == []


def test_session_that_ended_meanwhile_changes_no_password(api, change, ann, monkeypatch):
    once_counted(monkeypatch, lambda: api.post("logout", token=ann["access_token"]))

    assert change().error == (401, "INVALID_TOKEN")
    assert api.post("login", email=ANN, password=PASSWORD).status == 200
