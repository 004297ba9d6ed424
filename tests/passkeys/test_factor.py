"""Passkeys as a second factor and in step-ups, by the methods of the slot."""

from functools import partial

import pyotp
import pytest
from django.db import transaction

from authservice.core import errors as core_errors
from authservice.core.login import login
from authservice.core.models import Session
from authservice.core.users import lookup
from authservice.kernel.client import Client
from authservice.kernel.interfaces import Arrival, Reach
from authservice.kernel.secret import Secret
from authservice.passkeys import challenges
from authservice.passkeys.errors import PasskeyRefused
from authservice.passkeys.models import Passkey
from authservice.passkeys.passkey_login import second_factor
from authservice.twofactor.verify_login import second_factor as app
from tests.passkeys.authenticator import BE, UP, UV, Authenticator
from tests.support.slots import accessing

pytestmark = pytest.mark.django_db
TOKEN = Secret("a temp_token")


@pytest.fixture
def person():
    return lambda email="ann@example.com": lookup.find_by_email(email)


def examine(holder, person, token=TOKEN, **change):
    options = second_factor.options(person, token)["passkey"]
    credential = holder.device.get(options, **change)
    return second_factor.examine(person, credential, token, Client())


def used(evidence):
    with transaction.atomic():
        return evidence.use()


def test_user_without_a_second_factor_has_none(ann, person):
    assert not second_factor.is_enabled(person())
    ann.enrol()
    assert not second_factor.is_enabled(person())


def test_passkey_is_a_second_factor_if_the_user_wants_it(ann, person):
    ann.enrol(second_factor=True)

    assert second_factor.is_enabled(person())
    assert not second_factor.is_required(person())


def test_factor_asks_for_nothing_itself(ann, person):
    ann.enrol(second_factor=True)
    arrival = Arrival(person=person(), client=Client(), method="password", proofs=("pwd",))

    assert second_factor.ask(arrival) is None


def test_password_login_of_a_user_without_passkeys_costs_no_query(
    ann, person, django_assert_num_queries
):
    found = person()
    assert found.gate_values["authservice_passkey_handle__id"] is None

    with django_assert_num_queries(0):
        assert not second_factor.is_enabled(found)
        assert second_factor.reaches(found) is None


@pytest.mark.parametrize(
    ("verifies", "attested", "level"),
    [(False, False, "aal2"), (True, False, "phr"), (True, True, "phrh")],
)
def test_level_is_that_of_the_best_passkey(ann, person, verifies, attested, level):
    ann.enrol()
    Passkey.objects.update(verifies=verifies, attested=attested)

    assert second_factor.reaches(person()) == Reach(level)


def test_bare_key_beside_an_attested_one_that_does_not_verify_reaches_aal2(ann, person):
    ann.enrol()
    Passkey.objects.update(verifies=False, attested=True)

    assert second_factor.reaches(person()) == Reach("aal2")


def test_level_to_enrol_is_that_of_the_settings(passkeys):
    assert second_factor.level == "phr"
    passkeys(ATTESTATION="direct")
    assert second_factor.level == "phrh"


def test_options_are_those_of_the_temp_token(ann, person):
    ann.enrol()

    options = second_factor.options(person(), TOKEN)["passkey"]

    assert options["challenge"] == challenges.of_temp_token(TOKEN)
    assert options["userVerification"] == "preferred"
    assert [one["id"] for one in options["allowCredentials"]] == [
        Passkey.objects.get().credential_id
    ]
    assert options["challenge"] != challenges.of_temp_token(Secret("another"))


@pytest.mark.parametrize(
    ("level", "verification", "offered"),
    [
        ("aal1", "preferred", {"bare", "verifying", "attested"}),
        ("aal2", "preferred", {"bare", "verifying", "attested"}),
        ("phr", "required", {"verifying", "attested"}),
        ("phrh", "required", {"attested"}),
    ],
)
def test_options_have_only_keys_that_reach_the_level(ann, person, level, verification, offered):
    for name in ("bare", "verifying", "attested"):
        ann.device = Authenticator()
        ann.enrol(name=name)
    Passkey.objects.filter(name="bare").update(verifies=False)
    Passkey.objects.filter(name="attested").update(attested=True)

    options = second_factor.options(person(), TOKEN, level)["passkey"]

    assert options["userVerification"] == verification
    ids = [entry["id"] for entry in options["allowCredentials"]]
    names = Passkey.objects.filter(credential_id__in=ids).values_list("name", flat=True)
    assert set(names) == offered


def test_user_without_passkeys_gets_no_options(ann, person):
    assert second_factor.options(person(), TOKEN) == {}


def test_passkey_proves_two_factors(ann, person):
    ann.enrol()

    evidence = examine(ann, person())

    assert evidence.proofs == ("pop", "user", "mfa")
    assert used(evidence) is True
    assert Passkey.objects.get().last_used_at is not None


def test_attested_passkey_proves_hardware(ann, person):
    ann.enrol()
    Passkey.objects.update(attested=True)

    assert examine(ann, person()).proofs == ("hwk", "user", "mfa")


def test_key_that_does_not_verify_its_user_proves_itself_only(ann, person):
    ann.device = Authenticator(flags=UP)
    ann.enrol(second_factor=True)

    assert examine(ann, person()).proofs == ("pop",)


def test_evidence_of_a_removed_passkey_is_worth_nothing(ann, person):
    ann.enrol()
    evidence = examine(ann, person())

    Passkey.objects.all().delete()

    assert used(evidence) is False


def test_counter_that_another_answer_raised_is_refused(ann, person):
    ann.enrol()
    first, second = (examine(ann, person(), counter=5) for _ in range(2))

    assert [used(first), used(second)] == [True, False]


@pytest.mark.parametrize(
    "change", [{"rp_id": "evil.example"}, {"flags": UV}, {"client": {"challenge": "x"}}]
)
def test_answer_that_does_not_verify_is_refused(ann, person, change):
    ann.enrol()

    with pytest.raises(PasskeyRefused):
        examine(ann, person(), **change)


def test_answer_to_another_temp_token_is_refused(ann, person):
    ann.enrol()
    options = second_factor.options(person(), TOKEN)["passkey"]
    credential = ann.device.get(options)

    with pytest.raises(PasskeyRefused):
        second_factor.examine(person(), credential, Secret("another"), Client())


def test_passkey_of_another_user_is_refused(ann, bob, person):
    ann.enrol()
    bob.enrol()
    options = second_factor.options(person(bob.email), TOKEN)["passkey"]
    credential = bob.device.get(options)

    with pytest.raises(PasskeyRefused):
        second_factor.examine(person(), credential, TOKEN, Client())


@pytest.mark.parametrize("credential", [{}, {"id": 1}, {"id": "AAAA", "rawId": "AAAA"}])
def test_malformed_answer_is_refused(ann, person, credential):
    with pytest.raises(PasskeyRefused):
        second_factor.examine(person(), credential, TOKEN, Client())


def test_counter_that_falls_back_shows_a_copy(ann, person, events):
    ann.enrol()
    ann.log_in(counter=7)

    with pytest.raises(PasskeyRefused):
        examine(ann, person(), counter=6)

    assert [event.action for event in events("security.passkey")] == ["security.passkey.cloned"]


def test_counter_of_a_passkey_on_several_devices_is_noted_only(ann, person, events):
    ann.device.flags |= BE
    ann.enrol()
    ann.log_in(counter=7)

    assert used(examine(ann, person(), counter=6)) is True

    assert [event.action for event in events("security.passkey")] == ["security.passkey.counter"]


def test_answer_that_is_sent_twice_shows_no_copy(ann, person, events, clock):
    ann.enrol()
    ann.log_in(counter=7)

    again = partial(examine, ann, person(), counter=7)
    with pytest.raises(PasskeyRefused):
        again()
    assert events("security.passkey") == []

    clock.forward(minutes=2)
    with pytest.raises(PasskeyRefused):
        again()
    assert len(events("security.passkey")) == 1


def test_passkey_has_no_code(ann, person):
    ann.enrol(second_factor=True)

    with pytest.raises(core_errors.TwoFactorRefused):
        second_factor.verify(person(), Secret("123456"), Client())


def test_enabled_factor_is_needed_to_add_a_passkey(ann):
    """The session of a password login does not prove two factors."""
    ann.enrol(second_factor=True)
    Session.objects.update(levels="aal1 1893500000 pwd")

    assert ann.post("passkeys/options").error == (401, "STEP_UP_REQUIRED")


def test_evidence_of_a_passkey_that_a_recovery_demoted_since_is_worth_nothing(ann, person):
    ann.enrol(second_factor=True)
    evidence = examine(ann, person())

    Passkey.objects.update(verifies=False)

    assert used(evidence) is False


def test_login_with_a_passkey_that_a_recovery_demoted_since_is_refused(ann, monkeypatch):
    """The login has read the passkey, and waits for the recovery."""
    ann.enrol(second_factor=True)
    check = login.check_may_log_in

    def demoted(*arguments, **options):
        Passkey.objects.update(verifies=False)
        return check(*arguments, **options)

    monkeypatch.setattr(login, "check_may_log_in", demoted)

    assert ann.log_in().error == (401, "PASSKEY_INVALID")


def test_login_that_a_passkey_completes_stores_what_it_left_pending(ann, person):
    ann.enrol(second_factor=True)
    completed, pending = [], {"shop": {"cart": 7}}
    password = {"method": "password", "proofs": ("pwd",), "pending": pending}
    with transaction.atomic():
        challenge = app.ask(Arrival(person=person(), client=Client(), **password))
    credential = ann.device.get(challenge.data["passkey"])
    body = {"temp_token": challenge.data["temp_token"].reveal(), "credential": credential}

    with accessing(complete=lambda person, client, left: completed.append((person.email, left))):
        assert ann.api.post("2fa/verify-login", **body).status == 200

    assert completed == [("ann@example.com", pending)]


class TestAppBesideAPasskey:
    """An intruder with a stolen session must not add an app beside the passkey of the user."""

    @pytest.fixture
    def owner(self, ann):
        ann.enrol(second_factor=True)
        return ann

    def test_it_is_set_up_only_after_two_factors(self, owner):
        assert owner.post("2fa/setup").error == (401, "STEP_UP_REQUIRED")

        owner.step_up()

        assert owner.post("2fa/setup").status == 200

    def test_it_is_confirmed_only_after_two_factors(self, ann):
        secret = ann.post("2fa/setup").data["secret"]
        ann.enrol(second_factor=True)
        code = pyotp.TOTP(secret).now()
        assert ann.post("2fa/verify", code=code).error == (401, "STEP_UP_REQUIRED")

        ann.step_up()

        assert ann.post("2fa/verify", code=code).status == 200

    def test_passkey_that_is_no_second_factor_changes_nothing(self, ann):
        ann.enrol()

        assert ann.post("2fa/setup").status == 200

    def test_challenge_to_set_up_an_app_is_void_once_there_is_a_passkey(self, ann, configure):
        configure(TWOFACTOR={"REQUIRED": "everybody"})
        (challenge,) = ann.api.log_in(ann.email)["challenges"]
        temp_token = challenge["data"]["temp_token"]
        secret = ann.api.post("2fa/setup-login", temp_token=temp_token).data["secret"]
        ann.enrol(second_factor=True)

        again = ann.api.post("2fa/setup-login", temp_token=temp_token)
        code = pyotp.TOTP(secret).now()
        answer = ann.api.post("2fa/verify-login", temp_token=temp_token, code=code)

        assert again.error == answer.error == (401, "INVALID_TOKEN")
