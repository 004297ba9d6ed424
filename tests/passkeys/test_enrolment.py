"""Adding a passkey: what the session must have proven, what is stored, and each refusal."""

from uuid import UUID

import pytest
from fido2.utils import websafe_decode

from authservice.core.models import Session
from authservice.passkeys import keys, own_passkeys
from authservice.passkeys.models import Handle, Passkey
from tests.passkeys.authenticator import BE, BS, UP, UV, Authenticator
from tests.passkeys.people import Holder
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db
INVALID = (400, "PASSKEY_INVALID")
STEP_UP = (401, "STEP_UP_REQUIRED")


def test_passkey_is_stored_with_what_it_says(ann):
    ann.device = Authenticator(flags=UP | UV | BE | BS, aaguid=bytes(range(16)))

    added = ann.enrol(name="Phone")

    assert added["name"] == "Phone"
    assert (added["backup_eligible"], added["backed_up"]) == (True, True)
    assert added["aaguid"] == str(UUID(bytes=bytes(range(16))))
    assert added["transports"] == ["nfc", "usb"]
    assert (added["verifies"], added["attested"], added["second_factor"]) == (True, False, False)


def test_options_ask_for_a_discoverable_passkey(ann):
    options = ann.options()["options"]

    assert options["rp"] == {"id": "testserver", "name": "testserver"}
    assert options["authenticatorSelection"]["residentKey"] == "required"
    assert options["authenticatorSelection"]["userVerification"] == "required"
    assert options["attestation"] == "none"
    assert options["timeout"] == 300_000
    assert [one["alg"] for one in options["pubKeyCredParams"]] == [-8, -7, -257]


def test_options_name_the_user_by_a_random_handle(ann):
    user = ann.options()["options"]["user"]

    assert len(websafe_decode(user["id"])) == 64
    assert user["name"] == ann.email
    assert not Handle.objects.exists()


def test_handle_of_the_first_passkey_stays(ann):
    ann.enrol()
    (credential,) = ann.device.credentials

    assert Handle.objects.get().value == credential.handle
    assert ann.options()["options"]["user"]["id"] == credential.handle


def test_second_of_two_first_passkeys_that_began_at_once_is_refused(ann):
    """It would answer with another handle than that of its user."""
    first, second = ann.options(), ann.options()
    assert ann.add(begun=first).status == 201

    assert ann.add(begun=second).error == INVALID
    assert Passkey.objects.count() == Handle.objects.count() == 1


def test_options_exclude_the_passkeys_that_exist(ann):
    added = ann.enrol()

    (excluded,) = ann.options()["options"]["excludeCredentials"]

    stored = Passkey.objects.get(pk=added["id"])
    assert excluded["id"] == stored.credential_id
    assert excluded["transports"] == ["nfc", "usb"]


def test_passkey_without_a_name_gets_one(ann):
    assert ann.enrol()["name"] == "Passkey"


def test_signed_out_client_gets_no_options(api):
    assert api.post("passkeys/options").error == (401, "UNAUTHORIZED")


def test_old_login_must_be_confirmed(ann, clock):
    begun = ann.options()
    clock.forward(minutes=11)
    ann.token = ann.api.post("refresh", refresh_token=ann.refresh_token).data["access_token"]

    refused = ann.post("passkeys/options")

    assert refused.error == STEP_UP
    assert refused.data["max_age"] == 600
    assert ann.add(begun=begun).error == STEP_UP


@pytest.mark.parametrize(("seconds", "status"), [(599, 201), (601, 401)])
def test_proof_is_at_most_ten_minutes_old_when_the_passkey_is_added(ann, clock, seconds, status):
    clock.forward(minutes=6)
    begun = ann.options()
    clock.forward(seconds=seconds - 360)

    assert ann.add(begun=begun).status == status


@pytest.mark.parametrize(("seconds", "status"), [(599, 201), (601, 401)])
def test_step_up_by_a_code_is_at_most_ten_minutes_old(api, clock, seconds, status):
    person = Person(api).sign_up().enrol()
    holder = Holder(api, token=person.token)
    clock.forward(seconds=30)
    (challenge,) = person.post("step-up", acr="aal2").data["challenges"]
    temp_token = challenge["data"]["temp_token"]
    proven = person.post("step-up/verify", temp_token=temp_token, code=person.code())
    holder.token = proven.data["access_token"]
    clock.forward(minutes=6)
    begun = holder.options()
    clock.forward(seconds=seconds - 360)

    answer = holder.add(begun=begun)

    assert answer.status == status, answer.body
    if status == 401:
        assert (answer.error, answer.data["acr_values"]) == (STEP_UP, "aal2")


def test_options_expire(ann, clock):
    begun = ann.options()
    clock.forward(minutes=6)

    assert ann.add(begun=begun).error == INVALID


def test_login_without_the_second_factor_is_not_enough(api, clock):
    person = Person(api).sign_up()
    holder = Holder(api, token=person.token)
    person.enrol()

    # The session of the sign-up proved a password and then enabled the factor.
    assert holder.post("passkeys/options").error == STEP_UP


def test_answer_of_another_session_is_refused(ann):
    begun = ann.options()
    credential = ann.device.create(begun["options"])
    ann.token = ann.api.log_in()["access_token"]

    assert ann.add(credential, begun=begun).error == INVALID


def test_answer_works_once(ann):
    begun = ann.options()
    first = ann.device.create(begun["options"])
    second = ann.device.create(begun["options"])

    assert ann.add(first, begun=begun).status == 201
    assert ann.add(second, begun=begun).error == INVALID


def test_expired_request_is_refused(ann, clock):
    begun = ann.options()
    credential = ann.device.create(begun["options"])
    clock.forward(minutes=5, seconds=1)

    assert ann.add(credential, begun=begun).error == INVALID


def test_token_of_a_login_starts_no_enrolment(ann):
    begun = ann.options()
    begun["request_token"] = ann.login_options()["request_token"]

    assert ann.add(begun=begun).error == INVALID


def test_passkey_of_the_account_is_not_added_twice(ann):
    ann.enrol()
    begun = ann.options()
    again = ann.device.create(begun["options"], credential=ann.device.credentials[0])

    assert ann.add(again, begun=begun).error == (409, "PASSKEY_EXISTS")


def test_passkey_of_another_account_is_not_added(ann, bob):
    ann.enrol()
    begun = bob.options()
    same = bob.device.create(begun["options"], credential=ann.device.credentials[0])

    assert bob.add(same, begun=begun).error == (409, "PASSKEY_EXISTS")
    assert Passkey.objects.count() == 1


def test_account_has_at_most_twenty_passkeys(ann, monkeypatch):
    monkeypatch.setattr(keys, "LIMIT", 2)
    ann.enrol()
    begun = ann.options()
    ann.enrol()

    assert ann.post("passkeys/options").error == (403, "PASSKEY_LIMIT")
    assert ann.add(begun=begun).error == (403, "PASSKEY_LIMIT")


def test_limit_is_twenty():
    assert keys.LIMIT == 20


def test_key_that_does_not_verify_its_user_is_no_passkey(ann):
    ann.device = Authenticator(flags=UP)

    answer = ann.add()

    assert answer.error == INVALID
    assert "second factor" in answer.data["message"]


def test_key_that_does_not_verify_its_user_is_a_second_factor(ann):
    ann.device = Authenticator(flags=UP)

    added = ann.enrol(second_factor=True)

    assert (added["verifies"], added["second_factor"]) == (False, True)
    assert ann.log_in().error == (401, "PASSKEY_INVALID")


def test_options_of_a_second_factor_ask_for_less(ann):
    chosen = ann.options(second_factor=True)["options"]["authenticatorSelection"]

    assert chosen == {
        "residentKey": "preferred",
        "requireResidentKey": False,
        "userVerification": "preferred",
    }


def test_first_second_factor_ends_all_other_sessions(ann, api):
    other = api.log_in()["access_token"]

    ann.enrol(second_factor=True)

    assert api.get("me", token=other).error == (401, "INVALID_TOKEN")
    assert ann.get("me").status == 200


def test_passkey_that_is_no_second_factor_ends_no_session(ann, api):
    other = api.log_in()["access_token"]

    ann.enrol()

    assert api.get("me", token=other).status == 200


def test_further_second_factor_ends_no_session(ann, api):
    ann.enrol(second_factor=True)
    ann.token = ann.log_in().data["access_token"]
    other = ann.log_in().data["access_token"]

    ann.enrol(second_factor=True)

    assert api.get("me", token=other).status == 200


def test_second_factor_needs_the_module_of_second_factors(ann, monkeypatch):
    monkeypatch.setattr(own_passkeys, "plugs", lambda slot: ())

    answer = ann.add(second_factor=True)

    assert answer.error == (400, "VALIDATION_ERROR")
    assert answer.data["message"].startswith("second_factor: ")


class TestConditional:
    def test_browser_may_create_a_passkey_unasked_after_a_password(self, ann):
        begun = ann.options(conditional=True)
        credential = ann.device.create(begun["options"], flags=BE | BS)

        added = ann.add(credential, begun=begun)

        assert added.status == 201
        assert added.data["verifies"] is True

    def test_user_must_be_present_otherwise(self, ann):
        begun = ann.options()
        credential = ann.device.create(begun["options"], flags=UV)

        assert ann.add(credential, begun=begun).error == INVALID

    def test_password_must_be_recent(self, ann, clock):
        clock.forward(minutes=6)

        refused = ann.post("passkeys/options", conditional=True)

        assert refused.error == STEP_UP
        assert refused.data["max_age"] == 300

    def test_password_must_be_recent_when_the_passkey_arrives(self, ann, clock):
        clock.forward(seconds=290)
        begun = ann.options(conditional=True)
        credential = ann.device.create(begun["options"], flags=BE | BS)
        clock.forward(seconds=11)

        assert ann.add(credential, begun=begun).error == STEP_UP

    def test_code_that_was_entered_later_is_no_password(self, api, clock):
        person = Person(api).sign_up()
        person.enrol()
        clock.forward(seconds=30)
        person.token = person.verify_login(person.code()).data["access_token"]
        holder = Holder(api, token=person.token)
        assert holder.post("passkeys/options", conditional=True).status == 200
        clock.forward(minutes=6)
        temp_token = person.post("step-up").data["challenges"][0]["data"]["temp_token"]
        person.post("step-up/verify", temp_token=temp_token, code=person.code())

        assert holder.post("passkeys/options").status == 200
        assert holder.post("passkeys/options", conditional=True).error == STEP_UP

    def test_login_by_passkey_is_no_password(self, ann):
        ann.enrol()
        ann.token = ann.log_in().data["access_token"]

        assert ann.post("passkeys/options", conditional=True).error == STEP_UP
        assert ann.post("passkeys/options").status == 200


def test_login_by_passkey_may_add_another(ann):
    ann.enrol(second_factor=True)
    ann.token = ann.log_in().data["access_token"]

    ann.enrol()

    assert Session.objects.filter(ended_at=None).count() == 2
