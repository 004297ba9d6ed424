"""Step-ups with a passkey: what they prove, for how often they count, and what limits them."""

import pytest

from authservice.core.models import Session
from authservice.kernel.levels import Record
from authservice.passkeys import relying_party
from authservice.passkeys.models import Passkey
from tests.passkeys.authenticator import Authenticator
from tests.passkeys.people import Holder, begin_login
from tests.support.aging import age_sessions
from tests.support.client import PASSWORD
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db


def begin(holder, acr="own"):
    answer = holder.post("step-up", acr=acr)
    assert answer.status == 200, answer.body
    return answer.data["challenges"][0]["data"]


def confirm(holder, begun, **change):
    credential = holder.device.get(begun["passkey"], **change)
    return send(holder, begun, credential)


def send(holder, begun, credential):
    token = begun["temp_token"]
    return holder.post("step-up/verify", temp_token=token, credential=credential)


def test_passkey_raises_the_level_of_the_session(ann):
    ann.enrol()

    assert confirm(ann, begin(ann, "phr")).data["acr"] == "phr"


@pytest.mark.parametrize("step", [0, 1], ids=["synced", "counting"])
def test_answer_counts_once_also_after_its_level_was_withdrawn(ann, clock, step):
    ann.enrol()
    first, ann.device = ann.device, Authenticator()
    other = ann.enrol()
    ann.device, first.step = first, step
    begun = begin(ann, "phr")
    credential = ann.device.get(begun["passkey"])
    assert send(ann, begun, credential).status == 200
    assert send(ann, begun, credential).error == (401, "INVALID_TOKEN")
    clock.forward(seconds=10)
    ann.delete(f"passkeys/{other['id']}")

    assert send(ann, begun, credential).error == (401, "INVALID_TOKEN")
    assert Record(Session.objects.get().levels).last("phr") is None


def test_session_that_ended_while_the_answer_was_checked_proves_no_level(ann, monkeypatch):
    ann.enrol()
    begun, before = begin(ann, "phr"), Session.objects.get().levels
    check = relying_party.assertion

    def check_and_log_out(*given, **more):
        assert ann.post("logout").status == 200
        return check(*given, **more)

    monkeypatch.setattr(relying_party, "assertion", check_and_log_out)

    assert confirm(ann, begun).error == (401, "INVALID_TOKEN")
    ended = Session.objects.get()
    assert (ended.end_reason, ended.levels) == ("logout", before)
    assert Passkey.objects.get().last_used_at is None


@pytest.fixture
def two_left(ann):
    """The network of the client has two wrong attempts left of a hundred."""
    for _ in range(98):
        credential = {"id": "AAAA", "rawId": "AAAA", "type": "public-key", "response": {}}
        body = {"request_token": begin_login(ann.api)["request_token"], "credential": credential}
        assert ann.api.post("passkeys/login", **body).status == 401


@pytest.mark.usefixtures("two_left")
def test_wrong_answers_count_for_the_network_together_with_those_of_logins(ann):
    ann.enrol()

    refused = [confirm(ann, begin(ann, "phr"), rp_id="evil.example").error for _ in range(3)]

    assert refused == [(401, "PASSKEY_INVALID")] * 2 + [(429, "TOO_MANY_REQUESTS")]


@pytest.mark.usefixtures("two_left")
def test_right_answers_use_no_attempt(ann, clock):
    ann.enrol()

    for _ in range(4):
        clock.forward(seconds=1)
        assert confirm(ann, begin(ann, "phr")).status == 200


def test_key_that_no_longer_logs_in_alone_is_one_factor(ann):
    """A recovery demotes a recent key so, since it may be an intruder's."""
    ann.enrol(second_factor=True)
    Passkey.objects.update(verifies=False)
    asked = ann.api.post("login", email=ann.email, password=PASSWORD).data["challenges"][0]["data"]
    credential = ann.device.get(asked["passkey"])

    answer = ann.api.post("2fa/verify-login", temp_token=asked["temp_token"], credential=credential)

    assert answer.status == 200
    assert Session.objects.latest("created_at").amr == "pwd pop mfa"


class TestWhatToEnrol:
    def refused(self, holder, acr):
        answer = holder.post("step-up", acr=acr)
        assert answer.error == (403, "STEP_UP_UNAVAILABLE")
        return answer.data["enrol"]

    def test_methods_that_reach_the_level(self, ann):
        assert self.refused(ann, "aal2") == ["code", "passkey"]
        assert self.refused(ann, "phr") == ["passkey"]

    def test_key_that_does_not_reach_it_is_no_reason_to_name_none(self, ann):
        ann.enrol(second_factor=True)
        Passkey.objects.update(verifies=False)

        assert self.refused(ann, "phr") == ["passkey"]

    def test_nothing_if_only_a_login_helps(self, api, clock):
        """A second factor alone is one factor, and so proves too little to enrol another."""
        person = Person(api).sign_up()
        holder = Holder(api, token=person.token)
        passkey = holder.enrol()
        person.enrol()
        holder.token = holder.log_in().data["access_token"]
        holder.delete(f"passkeys/{passkey['id']}")

        assert self.refused(holder, "own") == []
        assert holder.post("passkeys/options").data["enrol"] == []


def test_proof_that_cannot_reach_the_level_is_not_checked_and_not_recorded(ann, events):
    ann.enrol()
    token = begin(ann, "phr")["temp_token"]
    proofs = {"password": "not the password"}, {"code": "000000"}

    refused = [ann.post("step-up/verify", temp_token=token, **proof) for proof in proofs]

    assert [answer.error for answer in refused] == [(401, "STEP_UP_REQUIRED")] * 2
    assert events("auth.step_up") == []


class TestRequiredFactor:
    """`TWOFACTOR.REQUIRED`, for a user whose only factor is a passkey that is not marked as one: a
    login with the password asks for it, so the password alone proves too little."""

    @pytest.fixture(autouse=True)
    def _required(self, ann, configure):
        ann.enrol()
        configure(TWOFACTOR={"REQUIRED": "everybody"})
        age_sessions()

    def test_password_is_no_method(self, ann):
        asked = begin(ann, "own")

        assert (asked["acr"], asked["methods"]) == ("aal2", ["passkey"])

    @pytest.mark.parametrize("path", ["passkeys/options", "2fa/setup"])
    def test_password_enrols_nothing(self, ann, path):
        begun = begin(ann, "aal1")
        body = {"temp_token": begun["temp_token"], "password": PASSWORD}
        assert ann.post("step-up/verify", **body).status == 200

        assert ann.post(path).error == (401, "STEP_UP_REQUIRED")
        confirm(ann, begin(ann, "own"))
        assert ann.post(path).status == 200
