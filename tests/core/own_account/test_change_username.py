"""PUT /change-username: the rules and errors of a sign-up, with the password of the owner."""

import pytest

from tests.contract.shapes import USER, fits, is_refusal
from tests.support.flows import account
from tests.support.interleaved import once_counted

pytestmark = pytest.mark.django_db


def test_success_returns_200_with_the_stored_user(owner):
    answer = owner.rename("Anna_1")

    assert answer.status == 200
    assert fits(answer.data, USER)
    assert answer.data == owner.me()
    assert answer.data["username"] == "Anna_1"


def test_user_logs_in_with_the_new_username_only(api, owner):
    former = owner.me()["username"]
    owner.rename("anna")

    assert api.post("login", username="ANNA", password="plum tart 42 windows").status == 200
    if former:
        refused = api.post("login", username=former, password="plum tart 42 windows")
        assert refused.error == (401, "INVALID_CREDENTIALS")


def test_change_sets_no_updated_at(owner):
    assert owner.rename("anna").data["updated_at"] is None
    assert owner.me()["updated_at"] is None


def test_username_changes_to_another_spelling_of_itself(owner):
    owner.rename("anna")

    assert owner.rename("ANNA").data["username"] == "ANNA"


@pytest.mark.parametrize("taken", ["benjamin", "BENJAMIN"])
def test_username_of_another_user_is_refused(api, owner, taken):
    before = owner.me()
    api.sign_up("ben@example.com", username="benjamin")

    assert is_refusal(owner.rename(taken), 400, "USERNAME_ALREADY_EXISTS")
    assert owner.me() == before


@pytest.mark.parametrize("username", ["", "ab", "a" * 31, "ann cee", "änne", "ann@example.com"])
def test_username_that_a_signup_refuses_is_refused(api, owner, username):
    answer = owner.rename(username)

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"].startswith("username: ")


def test_taken_usernames_count_under_the_rate_is_available(api, clock, owner, configure):
    configure(THROTTLE={"RATES": {"is-available": "3/d"}})
    api.sign_up("ben@example.com", username="benjamin")
    for _ in range(3):
        assert owner.rename("benjamin").code == "USERNAME_ALREADY_EXISTS"

    assert is_refusal(owner.rename("anybody"), 429, "TOO_MANY_REQUESTS")


def test_free_usernames_do_not_count(owner, configure):
    configure(THROTTLE={"RATES": {"is-available": "2/d"}})

    assert [owner.rename(f"anna{n}").status for n in range(4)] == [200] * 4


def test_session_that_ended_meanwhile_changes_no_username(api, owner, monkeypatch):
    before = account().username
    once_counted(monkeypatch, lambda: api.post("logout", token=owner.token))

    assert owner.rename("anna").error == (401, "INVALID_TOKEN")
    assert account().username == before
