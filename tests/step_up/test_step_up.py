"""POST /step-up and /step-up/verify: what they ask for, take and refuse, and what follows."""

from datetime import timedelta

import pytest

from authservice.core.errors import StepUpUnavailable
from authservice.core.login import step_up
from authservice.core.models import Session
from authservice.core.users import lookup
from authservice.kernel import clock
from authservice.kernel.levels import Record
from tests.contract.shapes import is_refusal
from tests.passkeys.people import Holder
from tests.support import forging
from tests.support.aging import age_sessions
from tests.support.client import PASSWORD
from tests.support.interleaved import once_counted
from tests.support.people import make_user
from tests.support.slots import Listener
from tests.support.statements import ALONG, FIRST, statements
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db

WRONG = "not " + PASSWORD


def begin(person, acr="own"):
    answer = person.post("step-up", acr=acr)
    assert answer.status == 200, answer.body
    (challenge,) = answer.data["challenges"]
    assert (answer.data["status"], challenge["type"]) == ("challenge", "step_up")
    return challenge["data"]


def confirm(person, acr="own", **proof):
    return person.post("step-up/verify", temp_token=begin(person, acr)["temp_token"], **proof)


def session_of(token):
    return Session.objects.get(pk=forging.claims(token)["sid"])


def test_password_is_asked_of_a_user_without_a_second_factor(ann):
    asked = begin(ann)

    assert (asked["acr"], asked["methods"]) == ("aal1", ["password"])


def test_second_factor_is_asked_of_a_user_who_has_one(enrolled):
    asked = begin(enrolled)

    assert (asked["acr"], asked["methods"]) == ("aal2", ["code"])
    assert begin(enrolled, "aal1")["methods"] == ["password", "code"]


def test_answer_is_a_new_access_token_of_the_same_session(ann, clock):
    before = forging.claims(ann.token)
    clock.forward(minutes=20)
    ann.token = ann.api.log_in()["access_token"]
    clock.forward(minutes=11)

    answer = confirm(ann, password=PASSWORD)

    after = forging.claims(answer.data["access_token"])
    assert answer.data.keys() == {"access_token", "expires_in", "acr", "message"}
    assert answer.data["acr"] == after["acr"] == "aal1"
    assert after["sid"] == forging.claims(ann.token)["sid"] != before["sid"]
    assert after["auth_time"] == after["iat"]
    assert ann.api.get("me", token=answer.data["access_token"]).status == 200


def test_refresh_token_stays_valid(api, clock):
    tokens = api.sign_up()
    person = Person(api, token=tokens["access_token"])
    confirm(person, password=PASSWORD)

    refreshed = api.post("refresh", refresh_token=tokens["refresh_token"])

    assert refreshed.status == 200


def test_code_raises_a_session_of_a_password_to_two_factors(ann, clock):
    ann.enrol()  # this session stays, and has proven the password only
    assert "acr" in forging.claims(ann.token)
    clock.forward(seconds=30)

    token = confirm(ann, "aal2", code=ann.code()).data["access_token"]

    claims = forging.claims(token)
    assert (claims["acr"], claims["amr"]) == ("aal2", ["pwd", "otp", "mfa"])


def test_backup_code_is_a_code(enrolled):
    assert confirm(enrolled, code=enrolled.backup_codes[0]).status == 200
    assert is_refusal(confirm(enrolled, code=enrolled.backup_codes[0]), 401, "TWO_FACTOR_INVALID")


def test_weak_proof_changes_neither_acr_nor_auth_time_of_an_older_strong_one(enrolled, clock):
    strong = forging.claims(enrolled.token)
    clock.forward(minutes=9)

    claims = forging.claims(confirm(enrolled, "aal1", password=PASSWORD).data["access_token"])

    assert [claims[name] for name in ("acr", "amr", "auth_time")] == [
        strong[name] for name in ("acr", "amr", "auth_time")
    ]
    assert Record(session_of(enrolled.token).levels).last("aal1").timestamp() > strong["auth_time"]


@pytest.mark.parametrize(
    ("proof", "code"),
    [
        ({"password": WRONG}, "INVALID_CREDENTIALS"),
        ({"code": "wrong"}, "TWO_FACTOR_INVALID"),
    ],
)
def test_wrong_proof_is_refused_and_changes_nothing(enrolled, proof, code):
    before = session_of(enrolled.token).levels
    if "code" in proof:
        proof = {"code": enrolled.wrong_code()}

    assert is_refusal(confirm(enrolled, "aal1", **proof), 401, code)
    assert session_of(enrolled.token).levels == before


def test_wrong_passwords_are_limited_together_with_those_of_logins(ann):
    for _ in range(5):
        ann.api.post("login", email=ann.email, password=WRONG)
    refused = [confirm(ann, password=WRONG).error for _ in range(6)]

    assert refused == [(401, "INVALID_CREDENTIALS")] * 5 + [(429, "TOO_MANY_ATTEMPTS")]
    assert confirm(ann, password=PASSWORD).error == (429, "TOO_MANY_ATTEMPTS")
    assert ann.api.post("login", email=ann.email, password=PASSWORD).status == 429


def test_right_passwords_use_no_attempt(ann, clock):
    for _ in range(12):
        clock.forward(seconds=1)
        assert confirm(ann, password=PASSWORD).status == 200


def test_wrong_codes_are_limited_together_with_those_of_logins(enrolled):
    for _ in range(5):
        enrolled.verify_login(enrolled.wrong_code())
    refused = [confirm(enrolled, code=enrolled.wrong_code()).error for _ in range(6)]

    assert refused == [(401, "TWO_FACTOR_INVALID")] * 5 + [(429, "TOO_MANY_ATTEMPTS")]


def test_code_is_used_up(enrolled, clock):
    code = enrolled.code()
    assert confirm(enrolled, code=code).status == 200
    clock.forward(seconds=1)

    assert is_refusal(confirm(enrolled, code=code), 401, "TWO_FACTOR_INVALID")


def test_session_that_ended_while_the_password_was_checked_proves_no_level(ann, monkeypatch):
    temp_token, before = begin(ann, "aal1")["temp_token"], session_of(ann.token).levels
    once_counted(monkeypatch, lambda: ann.post("logout"))

    answer = ann.post("step-up/verify", temp_token=temp_token, password=PASSWORD)

    assert answer.error == (401, "INVALID_TOKEN")
    ended = session_of(ann.token)
    assert (ended.end_reason, ended.levels) == ("logout", before)


def test_password_does_not_answer_a_challenge_for_two_factors(enrolled):
    refused = confirm(enrolled, "aal2", password=PASSWORD)

    assert refused.error == (401, "STEP_UP_REQUIRED")


def test_challenge_of_another_session_is_refused(api, ann):
    other = Person(api, token=api.log_in()["access_token"])
    temp_token = begin(other)["temp_token"]

    refused = ann.post("step-up/verify", temp_token=temp_token, password=PASSWORD)

    assert is_refusal(refused, 401, "INVALID_TOKEN")


@pytest.mark.parametrize(("seconds", "status"), [(299, 200), (301, 401)])
def test_challenge_is_valid_for_five_minutes(ann, clock, seconds, status):
    temp_token = begin(ann)["temp_token"]
    clock.forward(seconds=seconds)

    answer = ann.post("step-up/verify", temp_token=temp_token, password=PASSWORD)

    assert answer.status == status


def test_challenge_is_answered_once(ann, clock):
    temp_token = begin(ann)["temp_token"]
    assert ann.post("step-up/verify", temp_token=temp_token, password=PASSWORD).status == 200
    clock.forward(seconds=1)

    again = ann.post("step-up/verify", temp_token=temp_token, password=PASSWORD)

    assert is_refusal(again, 401, "INVALID_TOKEN")


@pytest.mark.parametrize("change", [lambda t: t[:-1], lambda t: "x" + t, lambda t: "", str.upper])
def test_changed_challenge_is_refused(ann, change):
    temp_token = begin(ann)["temp_token"]

    refused = ann.post("step-up/verify", temp_token=change(temp_token), password=PASSWORD)

    assert refused.status in (400, 401)
    assert ann.post("step-up/verify", temp_token=temp_token, password=PASSWORD).status == 200


def test_temp_token_of_a_login_is_none_of_a_step_up(enrolled):
    temp_token = enrolled.temp_token()

    refused = enrolled.post("step-up/verify", temp_token=temp_token, code=enrolled.code())

    assert is_refusal(refused, 401, "INVALID_TOKEN")


def test_challenge_of_a_step_up_is_none_of_a_login(enrolled):
    temp_token = begin(enrolled)["temp_token"]

    assert is_refusal(enrolled.verify_login(enrolled.code(), temp_token), 401, "INVALID_TOKEN")


@pytest.mark.parametrize("acr", ["phr", "phrh", "aal2"])
def test_level_that_no_method_of_the_user_reaches_is_unavailable(ann, acr):
    refused = ann.post("step-up", acr=acr)

    assert refused.error == (403, "STEP_UP_UNAVAILABLE")
    data = refused.body["data"]
    assert data["acr_values"] == acr
    assert data["enrol"] == (
        ["code", "passkey"] if acr == "aal2" else ["passkey"] if acr == "phr" else []
    )


def test_session_of_another_package_proves_two_factors_only_by_a_new_login(enrolled):
    """A code alone is one factor."""
    Session.objects.update(levels="", amr="legacy")

    assert enrolled.post("step-up", acr="aal2").error == (403, "STEP_UP_UNAVAILABLE")
    token = confirm(enrolled, "aal1", code=enrolled.code()).data["access_token"]
    assert forging.claims(token)["acr"] == "aal1"
    # Two codes are one factor.
    assert enrolled.post("step-up", acr="aal2").error == (403, "STEP_UP_UNAVAILABLE")


@pytest.mark.parametrize(("minutes", "enrol"), [(9, ["code", "passkey"]), (11, [])])
def test_session_that_cannot_enrol_either_needs_another_login(minutes, enrol):
    """The user has neither a password nor a factor, as after a login by a mailed link."""
    person = lookup.get_person(make_user(password=None))
    with clock.unit():
        record = Record.of_login(("email",), clock.utc() - timedelta(minutes=minutes))

        with pytest.raises(StepUpUnavailable) as refused:
            step_up.methods(person, record, "aal2")

    assert refused.value.fields["enrol"] == enrol


class TestFactorSetUpWithAnOldProof:
    """With a stolen session an intruder could set up a factor and then prove it."""

    @pytest.mark.parametrize(("seconds", "status"), [(590, 200), (601, 403)])
    def test_it_is_offered_if_a_proof_was_recent_then(self, ann, clock, seconds, status):
        clock.forward(seconds=seconds)
        ann.enrol()

        answer = ann.post("step-up", acr="aal2")

        assert answer.status == status
        if status == 403:
            assert (answer.error[1], answer.body["data"]["enrol"]) == ("STEP_UP_UNAVAILABLE", [])

    @pytest.mark.parametrize("began", ["before", "after"])
    def test_its_code_answers_no_challenge(self, ann, clock, began):
        clock.forward(minutes=11)
        asked = begin(ann, "aal1")
        ann.enrol()
        clock.forward(seconds=30)
        if began == "after":
            asked = begin(ann, "aal1")

        answer = ann.post("step-up/verify", temp_token=asked["temp_token"], code=ann.code())

        assert asked["methods"] == ["password"]
        assert answer.error == (401, "INVALID_TOKEN")

    def test_it_counts_after_a_newer_proof(self, ann, clock):
        clock.forward(minutes=11)
        ann.enrol()
        confirm(ann, "aal1", password=PASSWORD)
        clock.forward(seconds=30)

        assert confirm(ann, "aal2", code=ann.code()).status == 200

    def test_it_counts_in_a_session_that_began_later(self, ann, clock):
        clock.forward(minutes=11)
        ann.enrol()
        clock.forward(seconds=30)
        ann.token = ann.verify_login(ann.code()).data["access_token"]
        clock.forward(minutes=11)

        assert confirm(ann, "aal2", code=ann.code()).status == 200


@pytest.mark.parametrize(
    "proof",
    [
        {},
        {"password": PASSWORD, "code": "123456"},
        {"password": "", "code": ""},
        {"credential": "text"},
        {"credential": []},
    ],
    ids=str,
)
def test_exactly_one_proof_is_required(ann, proof):
    assert confirm(ann, **proof).error == (400, "VALIDATION_ERROR")


@pytest.mark.parametrize("acr", ["aal3", "", "PHR", 2, None, "urn:x"])
def test_unknown_level_is_refused(ann, acr):
    assert ann.post("step-up", acr=acr).error == (400, "VALIDATION_ERROR")


def test_disabled_factor_takes_its_level_from_every_live_session(enrolled, clock):
    other = enrolled.verify_login(enrolled.code()).data["access_token"]
    clock.forward(seconds=30)

    assert enrolled.post("2fa/disable", code=enrolled.code()).status == 200

    for token in (enrolled.token, other):
        session = session_of(token)
        assert (session.amr, Record(session.levels).last("aal2")) == ("pwd", None)
        assert Record(session.levels).last("aal1") is not None


def test_steps_are_recorded(enrolled, monkeypatch):
    recorded = []
    listener = Listener(recorded.append)
    monkeypatch.setattr("authservice.kernel.events.plugs", lambda slot: (listener,))
    confirm(enrolled, "aal1", password=WRONG)
    confirm(enrolled, "aal1", password=PASSWORD)

    assert [event.action for event in recorded] == ["auth.step_up.failed", "auth.step_up"]


def test_recent_proof_is_any_step_up(ann, configure):
    configure(CORE={"REQUIRE_RECENT_PROOF": True})
    age_sessions()
    assert ann.post("2fa/setup").error == (403, "REAUTHENTICATION_REQUIRED")

    confirm(ann, password=PASSWORD)

    assert ann.post("2fa/setup").status == 200


# All read the session with its user and write its levels. Between them a password counts an attempt
# and takes it back, and a passkey is read and used. A code does all four: its secret is in the row
# of the authenticator, and the UPDATE of the time step is what lets it work once. PostgreSQL writes
# the three changes after a code in one statement.
STATEMENTS = {"password": 4, "passkey": 4, "code": 6 - 2 * ALONG}


@pytest.mark.parametrize("proof", STATEMENTS)
def test_statements_of_a_step_up(enrolled, proof):
    device = Holder(enrolled.api, token=enrolled.token)
    device.enrol()
    asked = begin(enrolled, "aal1")
    given = {
        "password": lambda: {"password": PASSWORD},
        "passkey": lambda: {"credential": device.device.get(asked["passkey"])},
        "code": lambda: {"code": enrolled.code()},
    }[proof]()
    body = {"temp_token": asked["temp_token"], **given}

    counted = statements(lambda: enrolled.post("step-up/verify", **body))

    # MySQL and MariaDB begin a new counter with one statement more.
    assert STATEMENTS[proof] <= len(counted) <= STATEMENTS[proof] + 2 * FIRST, counted
