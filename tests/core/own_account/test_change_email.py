"""POST /change-email: mails a link to the new address, and changes nothing until it is opened."""

import pytest
from django.core.management import call_command

from authservice.core.messages import kinds
from authservice.core.models import OneTimeToken, Session
from authservice.core.users.identifiers import email_key
from authservice.kernel import modules
from tests.contract.shapes import is_refusal
from tests.core.own_account.owner import (
    EVE,
    INVALID,
    REAUTHENTICATE,
    Owner,
    confirm,
    open_link,
    without_password,
)
from tests.support.aging import age_sessions
from tests.support.client import PASSWORD
from tests.support.flows import ANN, NEW, account, deactivate, move, prove
from tests.support.interleaved import once_counted
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db

BEN = "ben@example.com"


def test_request_returns_200_with_a_message_only(proven_owner):
    answer = proven_owner.move()

    assert answer.status == 200
    assert list(answer.body) == ["data"]
    assert list(answer.data) == ["message"]


def test_request_changes_nothing(proven_owner):
    before = proven_owner.me()

    proven_owner.move()

    assert proven_owner.me() == before


def test_request_mails_the_new_address_and_notifies_the_former_one(proven_owner, post):
    proven_owner.move()

    assert {(job.kind, job.target) for job in post.jobs} == {
        (kinds.CHANGE_EMAIL, EVE),
        (kinds.EMAIL_CHANGE_REQUESTED, ANN),
    }
    assert post.outgoing(kinds.CHANGE_EMAIL).to == EVE
    assert post.outgoing(kinds.EMAIL_CHANGE_REQUESTED).context["new_email"] == EVE


def test_former_address_that_is_not_proven_gets_no_notice(owner, post):
    assert owner.move().status == 200

    assert post.kinds() == [kinds.CHANGE_EMAIL]


def test_jobs_and_rows_have_no_token(proven_owner, post):
    proven_owner.move()
    token = post.token(kinds.CHANGE_EMAIL)

    assert token not in repr(post.jobs)
    assert token not in repr(list(OneTimeToken.objects.values()))


def test_notice_cancels_the_request(api, requested, post):
    token = requested()
    secured = post.token(kinds.EMAIL_CHANGE_REQUESTED)

    assert api.request("POST", "account/secure", {"token": secured}).status == 200

    assert confirm(api, token).error == INVALID
    assert account().user.has_usable_password() is False


def test_notice_undoes_a_request_that_was_confirmed(api, requested, post):
    token = requested()
    secured = post.token(kinds.EMAIL_CHANGE_REQUESTED)
    confirm(api, token)

    assert api.request("POST", "account/secure", {"token": secured}).status == 200

    assert account(ANN).proven_email_key == email_key(ANN)


@pytest.mark.parametrize("email", ["ANN@example.com", "Ann@Example.com"])
def test_other_spelling_of_the_same_address_is_stored_at_once(proven_owner, post, email):
    answer = proven_owner.move(email)

    text = "This is the address of the account. Its spelling is stored."
    assert (answer.status, answer.data["message"]) == (200, text)
    assert proven_owner.me()["email"] == email
    assert proven_owner.me()["email_verified"] is True
    assert post.jobs == []


@pytest.mark.parametrize("taken", [BEN, "BEN@example.com"])
def test_address_of_another_user_is_refused(api, proven_owner, post, taken):
    api.sign_up(BEN)
    post.jobs.clear()

    assert is_refusal(proven_owner.move(taken), 400, "USER_ALREADY_EXISTS")
    assert post.jobs == []


def test_taken_addresses_count_under_the_rate_is_available(api, clock, proven_owner, configure):
    configure(THROTTLE={"RATES": {"is-available": "3/d"}})
    api.sign_up(BEN)
    for _ in range(3):
        assert proven_owner.move(BEN).code == "USER_ALREADY_EXISTS"

    assert is_refusal(proven_owner.move(EVE), 429, "TOO_MANY_REQUESTS")


def test_hidden_taken_address_gets_200_and_its_owner_a_mail(api, proven_owner, post, configure):
    configure(CORE={"SIGNUP_ENUMERATION": "hide"})
    api.post("signup", email=BEN, password=PASSWORD)
    post.outgoing(kinds.SIGNUP)
    post.jobs.clear()
    free, taken = proven_owner.move(EVE), proven_owner.move(BEN)

    assert (taken.status, taken.body) == (free.status, free.body)
    assert [(job.kind, job.requested) for job in post.jobs if job.target in (EVE, BEN)] == [
        (kinds.CHANGE_EMAIL, True)
    ] * 2
    message = post.outgoing(kinds.CHANGE_EMAIL)
    assert (message.kind, message.to) == (kinds.EMAIL_TAKEN, BEN)
    assert "link" not in message.context


def test_address_that_is_taken_after_the_request_gets_no_link(api, proven_owner, post):
    proven_owner.move(BEN)
    api.sign_up(BEN)

    assert post.outgoing(kinds.CHANGE_EMAIL).kind == kinds.EMAIL_TAKEN


def test_new_request_ends_the_one_before(api, requested):
    first = requested("first@example.com")
    second = requested("second@example.com")

    assert confirm(api, first).error == INVALID
    assert confirm(api, second).status == 200


def test_request_beyond_the_limit_of_mails_keeps_the_link_before_it(api, requested, proven_owner):
    for _ in range(3):
        mailed = requested()

    refused = proven_owner.move()

    assert refused.status == 200
    assert confirm(api, mailed).status == 200
    assert account(EVE).email == EVE


def test_request_beyond_the_limit_of_mails_looks_like_others(proven_owner, post):
    answers = [proven_owner.move() for _ in range(4)]

    assert len({(answer.status, str(answer.body)) for answer in answers}) == 1
    assert post.kinds().count(kinds.CHANGE_EMAIL) == 3


def test_request_beyond_the_limit_of_mails_is_not_pending(proven_owner):
    for _ in range(4):
        proven_owner.move()

    rows = OneTimeToken.objects.filter(purpose="change-email", spent_at=None)
    assert rows.count() == 1


def test_request_gets_no_link_after_the_password_has_changed(api, proven_owner, post):
    """A worker may compose the mail later: an intruder whom a new password has locked out must not
    get the account with an earlier request."""
    proven_owner.move()
    body = {"old_password": PASSWORD, "new_password": NEW}
    assert api.request("PUT", "change-password", body, token=proven_owner.token).status == 200

    assert post.outgoing(kinds.CHANGE_EMAIL) is None


def test_request_gets_no_link_after_staff_have_changed_the_address(proven_owner, post):
    proven_owner.move()
    move("staff@example.com")

    assert post.outgoing(kinds.CHANGE_EMAIL) is None


def test_request_without_a_job_of_its_own_sends_nothing(proven_owner, post):
    proven_owner.move("first@example.com")
    earlier = post.jobs[-1]
    proven_owner.move("second@example.com")
    post.jobs.append(earlier)

    assert post.outgoing(kinds.CHANGE_EMAIL) is None


def test_five_requests_a_day_are_accepted(proven_owner, clock):
    proven_owner.token = proven_owner.api.log_in()["access_token"]
    sent = [proven_owner.move(f"eve{n}@example.com").error for n in range(6)]

    assert sent == [(200, "")] * 5 + [(429, "TOO_MANY_REQUESTS")]
    clock.forward(hours=25)
    proven_owner.token = proven_owner.api.log_in()["access_token"]
    assert proven_owner.move().status == 200


def test_refused_requests_do_not_use_up_the_day(api, proven_owner):
    api.sign_up(BEN)
    for _ in range(6):
        proven_owner.move(BEN)

    assert proven_owner.move().status == 200


def test_requests_beyond_another_limit_do_not_use_up_the_day(api, proven_owner, configure, clock):
    proven_owner.token = api.log_in()["access_token"]
    configure(THROTTLE={"RATES": {"is-available": "1/min"}})
    api.sign_up(BEN)
    proven_owner.move(BEN)
    assert [proven_owner.move().status for _ in range(5)] == [429] * 5

    clock.forward(minutes=2)

    assert proven_owner.move().status == 200


@pytest.mark.parametrize(
    "email", ["", "eve", "eve@", '"e v e"@example.com', "eve@[127.0.0.1]", "e" * 250 + "@a.de"]
)
def test_address_that_a_signup_refuses_is_refused(proven_owner, email):
    answer = proven_owner.move(email)

    assert is_refusal(answer, 400, "VALIDATION_ERROR")
    assert answer.data["message"].startswith("email: ")


def test_service_without_mail_answers_501(owner):
    with modules.plugged("messenger", None):
        assert is_refusal(owner.move(), 501, "EMAIL_NOT_CONFIGURED")


# Hostile clients.


def test_stolen_token_of_an_old_session_requests_nothing(proven_owner, post):
    age_sessions()

    assert proven_owner.move(password=None).error == REAUTHENTICATE
    assert proven_owner.move(password="any password").error == (401, "INVALID_CREDENTIALS")
    assert post.jobs == []


def test_token_of_an_ended_session_requests_nothing(api, proven_owner, post):
    api.post("logout", token=proven_owner.token)

    assert proven_owner.move().error == (401, "INVALID_TOKEN")
    assert post.jobs == []


def test_session_that_ends_meanwhile_requests_nothing(api, proven_owner, post, monkeypatch):
    once_counted(monkeypatch, lambda: api.post("logout", token=proven_owner.token))

    assert proven_owner.move().error == (401, "INVALID_TOKEN")
    assert post.jobs == []


def test_suspended_user_requests_and_confirms_nothing(api, requested, proven_owner):
    token = requested()
    deactivate()

    assert proven_owner.move().error == (401, "INVALID_TOKEN")
    assert confirm(api, token).error == INVALID
    assert open_link(api, token).error == INVALID
    assert account().email == ANN


def test_user_without_any_proof_of_the_former_address_changes_it(api, owner, post):
    owner.move()

    assert confirm(api, post.token(kinds.CHANGE_EMAIL)).status == 200
    assert account(EVE).proven_email_key == email_key(EVE)


def test_link_of_another_user_changes_only_the_account_that_requested_it(api, requested, post):
    token = requested()
    ben = Owner(api, api.sign_up(BEN)["access_token"], "")
    prove(BEN)
    ben.move("ben2@example.com")

    headers = {"Authorization": f"Bearer {ben.token}"}
    assert confirm(api, token, headers=headers).status == 200

    assert ben.me()["email"] == BEN
    assert account(EVE).user_id != account(BEN).user_id


def test_end_of_all_sessions_ends_the_request_of_a_user_without_a_password(api, proven_owner, post):
    without_password(proven_owner).move(password=None)
    token = post.token(kinds.CHANGE_EMAIL)
    call_command("authservice_revoke", user=ANN)
    Session.objects.all().delete()  # the cleanup deletes ended sessions

    assert confirm(api, token).error == INVALID
    assert account().email == ANN


def test_address_that_staff_changed_meanwhile_stays(api, requested):
    token = requested()
    move("staff@example.com")

    assert confirm(api, token).error == INVALID


def end_by_factor(api, owner):
    """A second factor of another session ends the session that asked for the change."""
    Person(api, token=api.log_in(ANN)["access_token"], user_id=owner.user_id).enrol()


def end_by_password(api, owner):
    other = Owner(api, api.log_in(ANN)["access_token"], owner.user_id)
    body = {"password": None, "old_password": PASSWORD, "new_password": NEW}
    assert other.ask("PUT", "change-password", **body).status == 200


def end_by_logout(api, owner):
    assert api.post("logout", token=owner.token).status == 200


@pytest.mark.parametrize(
    ("end", "status"), [(end_by_factor, 400), (end_by_password, 400), (end_by_logout, 200)]
)
def test_request_of_a_session_that_somebody_ended_is_void(
    api, requested, proven_owner, end, status
):
    """An intruder may have sent it."""
    token = requested()

    end(api, proven_owner)

    assert confirm(api, token).status == status
    assert account(ANN if status == 400 else EVE)
