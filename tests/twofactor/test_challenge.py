"""Who has a second factor gets a challenge for a password, and tokens for challenge and code."""

import jwt
import pytest

from authservice.core.credentials import one_time
from authservice.core.models import OneTimeToken, Session
from authservice.core.users import lookup
from tests.client import PASSWORD
from tests.people import change, deactivate, the_user
from tests.recovery.flows import prove
from tests.twofactor.people import ANN, Person

pytestmark = pytest.mark.django_db
REFUSED = (401, "TWO_FACTOR_INVALID")
NO_TOKEN = (401, "INVALID_TOKEN")


def test_a_login_answers_a_challenge_and_no_tokens(api, enrolled):
    answer = api.post("login", email=ANN, password=PASSWORD)

    assert answer.status == 200
    assert answer.data["user"] == {"id": enrolled.user_id, "email": ANN}
    assert set(answer.data) == {"user", "challenges", "message"}
    assert "X-Device-Token" not in answer.headers
    assert not answer.response.cookies


def test_the_challenge_is_what_the_interface_says(enrolled):
    challenge = enrolled.challenge()

    assert set(challenge) == {"type", "data"}
    assert challenge["type"] == "2fa"
    assert set(challenge["data"]) == {"requires_2fa", "temp_token", "user_id", "message"}
    assert challenge["data"]["requires_2fa"] is True
    assert challenge["data"]["user_id"] == enrolled.user_id
    assert len(challenge["data"]["temp_token"]) == 43


def test_it_begins_no_sign_in(enrolled):
    before = Session.objects.count()

    enrolled.challenge()

    assert Session.objects.count() == before


def test_a_wrong_password_is_told_nothing_of_it(api, enrolled):
    assert api.post("login", email=ANN, password="wrong").error == (401, "INVALID_CREDENTIALS")


def test_a_code_of_the_app_gives_tokens(api, enrolled):
    answer = enrolled.verify_login(enrolled.code())

    assert answer.status == 200
    assert set(answer.data) == {"access_token", "refresh_token", "expires_in", "user", "message"}
    assert answer.data["user"] == enrolled.get("me").data
    assert api.get("me", token=answer.data["access_token"]).status == 200
    assert api.post("refresh", refresh_token=answer.data["refresh_token"]).status == 200


def test_it_hands_out_the_token_of_the_device(enrolled):
    answer = enrolled.verify_login(enrolled.code())

    assert answer.headers["X-Device-Token"]
    assert "authservice_device" in answer.response.cookies


def test_the_token_says_how_its_bearer_was_authenticated(enrolled):
    token = enrolled.verify_login(enrolled.code()).data["access_token"]

    claims = jwt.decode(token, options={"verify_signature": False})
    assert claims["amr"] == ["pwd", "otp", "mfa"]


@pytest.mark.parametrize("ahead", [-2, 2])
def test_a_code_out_of_the_window_is_refused(enrolled, clock, ahead):
    clock.forward(minutes=5)

    assert enrolled.verify_login(enrolled.code(ahead)).error == REFUSED


def test_a_wrong_code_is_refused(enrolled):
    assert enrolled.verify_login(enrolled.wrong_code()).error == REFUSED


def test_a_refusal_names_the_scheme(enrolled):
    answer = enrolled.verify_login(enrolled.wrong_code())

    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_after_a_wrong_code_the_right_one_opens(enrolled):
    token = enrolled.temp_token()
    enrolled.verify_login(enrolled.wrong_code(), token)

    assert enrolled.verify_login(enrolled.code(), token).status == 200


def test_a_code_works_once(enrolled):
    code = enrolled.code()

    assert enrolled.verify_login(code).status == 200
    assert enrolled.verify_login(code).error == REFUSED


def test_no_earlier_code_works_after_a_later_one(enrolled):
    assert enrolled.verify_login(enrolled.code(1)).status == 200
    assert enrolled.verify_login(enrolled.code()).error == REFUSED


def test_each_of_two_codes_in_a_row_works(enrolled):
    assert enrolled.verify_login(enrolled.code()).status == 200
    assert enrolled.verify_login(enrolled.code(1)).status == 200


def test_a_code_that_was_used_for_one_thing_is_used_for_all(enrolled):
    code = enrolled.code()
    enrolled.post("2fa/backup-codes", code=code)

    assert enrolled.verify_login(code).error == REFUSED


def test_another_persons_code_is_refused(api, enrolled, clock):
    bob = Person(api, "bob@example.com").sign_up().enrol()
    clock.forward(seconds=30)

    assert enrolled.verify_login(bob.code()).error == REFUSED
    assert enrolled.verify_login(bob.backup_codes[0]).error == REFUSED


# The temp_token


@pytest.mark.parametrize("token", ["A" * 43, "x", "a.b.c", "é" * 43])
def test_a_made_up_temp_token_opens_nothing(enrolled, token):
    assert enrolled.verify_login(enrolled.code(), token).error == NO_TOKEN


def test_it_works_once(enrolled):
    token = enrolled.temp_token()
    enrolled.verify_login(enrolled.code(), token)

    assert enrolled.verify_login(enrolled.code(1), token).error == NO_TOKEN
    assert enrolled.verify_login(enrolled.code(1)).status == 200


@pytest.mark.parametrize(("minutes", "status"), [(4.9, 200), (5, 401)])
def test_it_lives_for_five_minutes(enrolled, clock, minutes, status):
    token = enrolled.temp_token()

    clock.forward(minutes=minutes)

    assert enrolled.verify_login(enrolled.code(), token).status == status


def test_it_takes_five_tries(enrolled):
    token = enrolled.temp_token()
    for _ in range(5):
        assert enrolled.verify_login(enrolled.wrong_code(), token).error == REFUSED

    refused = enrolled.verify_login(enrolled.code(), token)

    assert refused.error == (429, "TOO_MANY_ATTEMPTS")
    assert int(refused.headers["Retry-After"]) <= 301


def test_a_new_login_has_five_more(enrolled):
    token = enrolled.temp_token()
    for _ in range(5):
        enrolled.verify_login(enrolled.wrong_code(), token)

    assert enrolled.verify_login(enrolled.code()).status == 200


@pytest.mark.parametrize("harm", [deactivate, lambda: change(password="another")])
def test_it_ends_with_its_person_and_the_password(enrolled, harm):
    token = enrolled.temp_token()

    harm()

    assert enrolled.verify_login(enrolled.code(), token).error == NO_TOKEN


def test_it_ends_with_the_factor_it_asks_for(enrolled):
    token = enrolled.temp_token()
    enrolled.post("2fa/disable", code=enrolled.code())

    assert enrolled.verify_login(enrolled.code(1), token).error == NO_TOKEN


@pytest.mark.parametrize("missing", ["temp_token", "code"])
def test_both_are_needed(api, enrolled, missing):
    body = {"temp_token": enrolled.temp_token(), "code": enrolled.code()}
    del body[missing]

    answer = api.post("2fa/verify-login", **body)

    assert answer.error == (400, "VALIDATION_ERROR")
    assert missing in answer.data["message"]


def test_nothing_of_it_is_kept_in_the_clear(enrolled):
    token = enrolled.temp_token()

    rows = OneTimeToken.objects.filter(purpose="2fa").values()
    assert rows
    assert token not in str(list(rows))


# Other roads and other proofs


def test_a_sign_up_is_not_challenged(api):
    assert "access_token" in api.sign_up()


def test_a_refresh_is_not_challenged(api, enrolled):
    tokens = enrolled.verify_login(enrolled.code()).data

    assert "access_token" in api.post("refresh", refresh_token=tokens["refresh_token"]).data


def test_who_must_verify_their_address_first_is_told_so_before_the_code(api, enrolled, configure):
    token = enrolled.temp_token()
    configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})

    assert api.post("login", email=ANN, password=PASSWORD).error == (403, "EMAIL_NOT_VERIFIED")
    assert enrolled.verify_login(enrolled.code(), token).error == (403, "EMAIL_NOT_VERIFIED")
    configure(CORE={})
    assert enrolled.verify_login(enrolled.code(), token).status == 200


def test_a_reset_password_does_not_pass_it_by(api, enrolled):
    prove()
    person = lookup.get_person(the_user())
    link = one_time.issue_link(one_time.RESET, person, person.email_key)
    new = "another plum tart 42"
    body = {"token": link, "email": ANN, "new_password": new}
    assert api.request("POST", "reset-password", body).status == 200

    assert "challenges" in api.log_in(ANN, password=new)
