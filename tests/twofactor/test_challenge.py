"""With a second factor, a password gets a challenge; challenge and code together get tokens."""

import jwt
import pytest

from authservice.core.credentials import one_time
from authservice.core.models import OneTimeToken, Session
from authservice.core.users import lookup
from authservice.kernel.client import Client
from authservice.kernel.interfaces import Arrival
from authservice.twofactor.verify_login import second_factor
from tests.support.client import PASSWORD
from tests.support.flows import prove
from tests.support.people import change, deactivate, the_user
from tests.twofactor.people import ANN, Person

pytestmark = pytest.mark.django_db
REFUSED = (401, "TWO_FACTOR_INVALID")
NO_TOKEN = (401, "INVALID_TOKEN")


def test_login_returns_a_challenge_and_no_tokens(api, enrolled):
    answer = api.post("login", email=ANN, password=PASSWORD)

    assert answer.status == 200
    assert answer.data["user"] == {"id": enrolled.user_id, "email": ANN}
    assert set(answer.data) == {"status", "user", "challenges", "message"}
    assert "X-Device-Token" not in answer.headers
    assert not answer.response.cookies


def test_challenge_has_the_documented_fields(enrolled):
    challenge = enrolled.challenge()

    assert set(challenge) == {"type", "data"}
    assert challenge["type"] == "2fa"
    assert set(challenge["data"]) == {"requires_2fa", "temp_token", "user_id", "message"}
    assert challenge["data"]["requires_2fa"] is True
    assert challenge["data"]["user_id"] == enrolled.user_id
    assert len(challenge["data"]["temp_token"]) == 43


def test_user_who_was_read_without_the_columns_of_the_gate_is_challenged(enrolled):
    """As in each login that does not find its user by e-mail address or username."""
    person = lookup.get_person(the_user())
    arrival = Arrival(person=person, client=Client(), method="other", proofs=("pwd",))

    assert second_factor.ask(arrival).type == "2fa"


def test_challenge_starts_no_session(enrolled):
    before = Session.objects.count()

    enrolled.challenge()

    assert Session.objects.count() == before


def test_wrong_password_does_not_reveal_the_factor(api, enrolled):
    assert api.post("login", email=ANN, password="wrong").error == (401, "INVALID_CREDENTIALS")


def test_code_of_the_app_returns_tokens(api, enrolled):
    answer = enrolled.verify_login(enrolled.code())

    assert answer.status == 200
    fields = {"status", "access_token", "refresh_token", "expires_in", "user", "message"}
    assert set(answer.data) == fields
    assert answer.data["user"] == enrolled.get("me").data
    assert api.get("me", token=answer.data["access_token"]).status == 200
    assert api.post("refresh", refresh_token=answer.data["refresh_token"]).status == 200


def test_code_of_the_app_returns_the_device_token(enrolled):
    answer = enrolled.verify_login(enrolled.code())

    assert answer.headers["X-Device-Token"]
    assert "authservice_device" in answer.response.cookies


def test_access_token_names_the_authentication_methods(enrolled):
    token = enrolled.verify_login(enrolled.code()).data["access_token"]

    claims = jwt.decode(token, options={"verify_signature": False})
    assert claims["amr"] == ["pwd", "otp", "mfa"]


@pytest.mark.parametrize("ahead", [-2, 2])
def test_code_outside_the_window_is_refused(enrolled, clock, ahead):
    clock.forward(minutes=5)

    assert enrolled.verify_login(enrolled.code(ahead)).error == REFUSED


def test_wrong_code_is_refused(enrolled):
    assert enrolled.verify_login(enrolled.wrong_code()).error == REFUSED


def test_refused_code_names_the_authentication_scheme(enrolled):
    answer = enrolled.verify_login(enrolled.wrong_code())

    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_right_code_is_accepted_after_a_wrong_one(enrolled):
    token = enrolled.temp_token()
    enrolled.verify_login(enrolled.wrong_code(), token)

    assert enrolled.verify_login(enrolled.code(), token).status == 200


def test_code_works_once(enrolled):
    code = enrolled.code()

    assert enrolled.verify_login(code).status == 200
    assert enrolled.verify_login(code).error == REFUSED


def test_earlier_code_is_refused_after_a_later_one(enrolled):
    assert enrolled.verify_login(enrolled.code(1)).status == 200
    assert enrolled.verify_login(enrolled.code()).error == REFUSED


def test_two_successive_codes_both_work(enrolled):
    assert enrolled.verify_login(enrolled.code()).status == 200
    assert enrolled.verify_login(enrolled.code(1)).status == 200


def test_code_used_for_another_action_is_refused(enrolled):
    code = enrolled.code()
    enrolled.post("2fa/backup-codes", code=code)

    assert enrolled.verify_login(code).error == REFUSED


def test_code_of_another_user_is_refused(api, enrolled, clock):
    bob = Person(api, "bob@example.com").sign_up().enrol()
    clock.forward(seconds=30)

    assert enrolled.verify_login(bob.code()).error == REFUSED
    assert enrolled.verify_login(bob.backup_codes[0]).error == REFUSED


# The temp_token


@pytest.mark.parametrize("token", ["A" * 43, "x", "a.b.c", "é" * 43])
def test_unknown_temp_token_is_refused(enrolled, token):
    assert enrolled.verify_login(enrolled.code(), token).error == NO_TOKEN


def test_temp_token_works_once(enrolled):
    token = enrolled.temp_token()
    enrolled.verify_login(enrolled.code(), token)

    assert enrolled.verify_login(enrolled.code(1), token).error == NO_TOKEN
    assert enrolled.verify_login(enrolled.code(1)).status == 200


@pytest.mark.parametrize(("minutes", "status"), [(4.9, 200), (5, 401)])
def test_temp_token_is_valid_for_five_minutes(enrolled, clock, minutes, status):
    token = enrolled.temp_token()

    clock.forward(minutes=minutes)

    assert enrolled.verify_login(enrolled.code(), token).status == status


def test_temp_token_accepts_five_attempts(enrolled):
    token = enrolled.temp_token()
    for _ in range(5):
        assert enrolled.verify_login(enrolled.wrong_code(), token).error == REFUSED

    refused = enrolled.verify_login(enrolled.code(), token)

    assert refused.error == (429, "TOO_MANY_ATTEMPTS")
    assert int(refused.headers["Retry-After"]) <= 301


def test_new_login_gets_five_more_attempts(enrolled):
    token = enrolled.temp_token()
    for _ in range(5):
        enrolled.verify_login(enrolled.wrong_code(), token)

    assert enrolled.verify_login(enrolled.code()).status == 200


@pytest.mark.parametrize("harm", [deactivate, lambda: change(password="another")])
def test_temp_token_ends_when_user_is_deactivated_or_password_changes(enrolled, harm):
    token = enrolled.temp_token()

    harm()

    assert enrolled.verify_login(enrolled.code(), token).error == NO_TOKEN


def test_temp_token_ends_when_the_factor_is_disabled(enrolled):
    token = enrolled.temp_token()
    enrolled.post("2fa/disable", code=enrolled.code())

    assert enrolled.verify_login(enrolled.code(1), token).error == NO_TOKEN


@pytest.mark.parametrize("missing", ["temp_token", "code"])
def test_request_without_temp_token_or_code_is_refused(api, enrolled, missing):
    body = {"temp_token": enrolled.temp_token(), "code": enrolled.code()}
    del body[missing]

    answer = api.post("2fa/verify-login", **body)

    assert answer.error == (400, "VALIDATION_ERROR")
    assert missing in answer.data["message"]


def test_temp_token_is_not_stored_in_plain_text(enrolled):
    token = enrolled.temp_token()

    rows = OneTimeToken.objects.filter(purpose="2fa").values()
    assert rows
    assert token not in str(list(rows))


# Other ways to sign in, and other proofs


def test_sign_up_is_not_challenged(api):
    assert "access_token" in api.sign_up()


def test_refresh_is_not_challenged(api, enrolled):
    tokens = enrolled.verify_login(enrolled.code()).data

    assert "access_token" in api.post("refresh", refresh_token=tokens["refresh_token"]).data


def test_unverified_address_is_reported_before_the_code_is_checked(api, enrolled, configure):
    token = enrolled.temp_token()
    configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})

    assert api.post("login", email=ANN, password=PASSWORD).error == (403, "EMAIL_NOT_VERIFIED")
    assert enrolled.verify_login(enrolled.code(), token).error == (403, "EMAIL_NOT_VERIFIED")
    configure(CORE={})
    assert enrolled.verify_login(enrolled.code(), token).status == 200


def test_reset_password_does_not_bypass_the_factor(api, enrolled):
    prove()
    person = lookup.get_person(the_user())
    link = one_time.issue_link(one_time.RESET, person, person.email_key)
    new = "another plum tart 42"
    body = {"token": link, "email": ANN, "new_password": new}
    assert api.request("POST", "reset-password", body).status == 200

    assert "challenges" in api.log_in(ANN, password=new)
