"""A login with a passkey: what it proves, and what it does not need."""

import cbor2
import pytest

from authservice.core.models import Account, Session
from authservice.core.users import lookup
from authservice.passkeys.models import Passkey
from tests.passkeys.authenticator import BE, BS, ED, UP, UV, Authenticator
from tests.passkeys.people import Holder, begin_login, finish_login
from tests.support.flows import deactivate
from tests.twofactor.people import Person

pytestmark = pytest.mark.django_db
INVALID = (401, "PASSKEY_INVALID")


@pytest.mark.parametrize("algorithm", ["ES256", "RS256", "EdDSA"])
def test_passkey_logs_in_without_a_name(ann, algorithm):
    ann.device = Authenticator(algorithm)
    ann.enrol()

    answer = ann.log_in()

    assert answer.status == 200, answer.body
    assert answer.data["user"]["email"] == ann.email


def test_login_proves_two_factors(ann):
    ann.enrol()

    ann.log_in()

    session = Session.objects.latest("created_at")
    assert (session.method, session.amr) == ("passkey", "pop user mfa")


@pytest.mark.parametrize("step", [0, 1])
def test_answer_works_once(ann, step):
    ann.device.step = step  # without a counter, only the challenge tells
    ann.enrol()
    begun = ann.login_options()
    credential = ann.sign(begun)

    first, second = (finish_login(ann.api, begun, credential) for _ in range(2))

    assert (first.status, second.error) == (200, INVALID)


def test_options_name_nobody(api):
    begun = begin_login(api)

    assert begun["options"]["allowCredentials"] == []
    assert begun["options"]["userVerification"] == "required"


def test_options_ask_the_database_nothing(api, django_assert_num_queries):
    with django_assert_num_queries(0):
        begin_login(api)


def test_options_of_two_requests_differ(api):
    first, second = begin_login(api), begin_login(api)

    assert first["options"]["challenge"] != second["options"]["challenge"]


def test_answer_to_other_options_is_refused(ann):
    ann.enrol()
    begun, other = ann.login_options(), ann.login_options()

    assert finish_login(ann.api, other, ann.sign(begun)).error == INVALID


def test_expired_options_are_refused(ann, clock):
    ann.enrol()
    begun = ann.login_options()
    credential = ann.sign(begun)
    clock.forward(minutes=5, seconds=1)

    assert finish_login(ann.api, begun, credential).error == INVALID


def test_token_of_an_enrolment_starts_no_login(ann):
    ann.enrol()
    begun = ann.login_options()
    begun["request_token"] = ann.options()["request_token"]

    assert finish_login(ann.api, begun, ann.sign(begun)).error == INVALID


@pytest.mark.parametrize("token", ["", "x", "a:b:c"])
def test_made_up_token_is_refused(ann, token):
    ann.enrol()
    begun = ann.login_options()
    credential = ann.sign(begun)
    begun["request_token"] = token

    assert finish_login(ann.api, begun, credential).status in (400, 401)


def test_unknown_passkey_is_named_unknown(ann):
    ann.enrol()
    ann.device.credentials[0].id = b"another id" * 3

    assert ann.log_in().error == (401, "PASSKEY_UNKNOWN")


def test_device_must_verify_its_user(ann):
    ann.enrol()

    assert ann.log_in(flags=UP).error == INVALID


def test_handle_of_another_user_is_refused(ann, bob):
    ann.enrol()
    bob.enrol()

    assert ann.log_in(handle=bob.device.credentials[0].handle).error == INVALID
    # Nobody has typed a name, so the answer must name the user (WebAuthn Level 3, section 7.2).
    assert ann.log_in(handle=None).error == INVALID


@pytest.mark.parametrize("tag", [2, 4, 9999])
def test_tag_in_the_extensions_is_refused(ann, tag):
    """A number of many digits behind a tag would take the decoder half a second."""
    ann.enrol()
    plain, tagged = cbor2.dumps({"x": b"\x01"}), cbor2.dumps({"x": cbor2.CBORTag(tag, [1, 1])})

    assert ann.log_in(flags=UP | UV | ED, tail=tagged).error == INVALID
    assert ann.log_in(flags=UP | UV | ED, tail=plain).status == 200


@pytest.mark.parametrize("value", [0, "", True])
def test_cross_origin_must_be_false_or_absent(ann, value):
    ann.enrol()

    assert ann.log_in(client={"crossOrigin": value}).error == INVALID


def test_refusals_have_one_text(ann):
    ann.enrol()

    texts = {ann.log_in(**change).data["message"] for change in ({"flags": UP}, {"rp_id": "x"})}

    assert texts == {"The passkey was not accepted."}


def test_suspended_user_is_refused_after_the_proof(ann):
    ann.enrol()
    deactivate()

    assert ann.log_in().error == (403, "USER_NOT_ACTIVE")
    assert ann.log_in(flags=UP).error == INVALID


def test_login_of_a_deleted_user_is_unknown(ann):
    ann.enrol()
    lookup.find_by_email(ann.email).user.delete()

    assert ann.log_in().error == (401, "PASSKEY_UNKNOWN")


def test_user_with_an_authenticator_app_needs_no_code(api):
    person = Person(api).sign_up()
    holder = Holder(api, token=person.token)
    holder.enrol()
    person.enrol()

    assert holder.log_in().data["status"] == "signed_in"


def test_failed_login_is_recorded(ann, events):
    ann.enrol()

    ann.log_in(flags=UP)

    (event,) = events("auth.login.failed")
    assert event.metadata == {"reason": "passkey_invalid", "method": "passkey"}


def test_unknown_passkeys_do_not_fill_the_log(ann, events):
    ann.enrol()
    ann.device.credentials[0].id = b"another id" * 3

    ann.log_in()

    assert events("auth.login.failed") == []


def test_failures_are_limited_by_network(ann, configure):
    configure(THROTTLE={"RATES": {"guess": "3/h"}})
    ann.enrol()
    ann.device.credentials[0].id = b"another id" * 3

    codes = [ann.log_in().code for _ in range(5)]

    assert codes[0] == "PASSKEY_UNKNOWN"
    assert codes[-1] == "TOO_MANY_REQUESTS"


class TestCounters:
    def test_key_without_a_counter_logs_in(self, ann):
        ann.device.step = 0
        ann.enrol()

        assert [ann.log_in().status for _ in range(2)] == [200, 200]

    def test_counter_is_stored(self, ann):
        ann.enrol()
        ann.log_in(counter=7)

        assert Passkey.objects.get().counter == 7

    @pytest.mark.parametrize("counter", [6, 7, 0])
    def test_counter_that_does_not_rise_shows_a_copy(self, ann, events, counter):
        ann.enrol()
        ann.log_in(counter=7)

        assert ann.log_in(counter=counter).error == INVALID

        (event,) = events("security.passkey")
        assert event.action == "security.passkey.cloned"
        assert event.metadata["counter"] == {"before": 7, "after": counter}
        assert Passkey.objects.get().counter == 7

    def test_counter_of_a_passkey_on_several_devices_is_noted_only(self, ann, events):
        ann.device.flags |= BE
        ann.enrol()
        ann.log_in(counter=7)

        assert ann.log_in(counter=6).status == 200

        (event,) = events("security.passkey")
        assert event.action == "security.passkey.counter"

    def test_same_answer_again_shows_no_copy(self, ann, events):
        ann.enrol()
        begun = ann.login_options()
        credential = ann.sign(begun)

        codes = [finish_login(ann.api, begun, credential).status for _ in range(2)]

        assert codes == [200, 401]
        assert events("security.passkey") == []

    def test_backup_state_is_renewed(self, ann):
        ann.device.flags |= BE
        ann.enrol()

        ann.log_in(flags=UP | UV | BE | BS)

        assert Passkey.objects.get().backed_up is True


def test_passkey_of_a_user_without_an_account_logs_in(ann):
    """As after an import: the project had the user before this service did."""
    ann.enrol()
    Account.objects.all().delete()

    answer = ann.log_in()

    assert answer.status == 200, answer.body
    assert Account.objects.count() == 1
