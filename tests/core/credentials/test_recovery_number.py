"""Phone numbers that may reset a password, and the requirements of PUT /profile for a new one."""

import pytest
from django.utils import timezone

from authservice.core.messages import kinds
from authservice.core.models import Account, PhoneSource
from authservice.core.users.identifiers import phone_key
from tests.contract.shapes import is_refusal
from tests.core.recovery.thief import Thief
from tests.support.client import PASSWORD, Api
from tests.support.flows import OTHER_PHONE, PHONE, account, prove

pytestmark = pytest.mark.django_db


@pytest.fixture
def thief(api, flows):
    """An attacker with an access token of a user whose address is verified."""
    token = api.sign_up()["access_token"]
    prove()
    return Thief(flows, token)


def planted_by_staff(phone=PHONE):
    Account.objects.update(
        phone_number=phone,
        phone_key=phone_key(phone),
        verified_phone_key=phone_key(phone),
        phone_set_by=PhoneSource.STAFF,
        phone_verified_at=timezone.now(),
    )


def test_number_set_by_a_session_resets_no_password(thief):
    thief.plant_number()

    assert not thief.reset_by_number()


@pytest.mark.parametrize(("hours", "resets"), [(71, False), (73, True)])
def test_number_set_by_a_session_resets_a_password_72_hours_after_its_verification(
    thief, clock, hours, resets
):
    thief.token = thief.api.log_in()["access_token"]
    thief.plant_number()
    clock.forward(hours=hours)

    assert thief.reset_by_number() is resets


def test_number_set_with_the_password_resets_the_password_at_once(thief):
    thief.plant_number(password=PASSWORD)

    assert thief.reset_by_number()


def test_number_of_the_signup_resets_the_password_at_once(api, flows):
    thief = Thief(flows, api.sign_up(phone_number=PHONE)["access_token"])
    flows.verify_phone(flows.phone_code())

    assert thief.reset_by_number(PHONE)


def test_number_sent_again_with_the_password_resets_the_password_at_once(thief):
    thief.plant_number(PHONE)

    thief.put(phone=PHONE, password=PASSWORD)

    assert thief.reset_by_number(PHONE)


def test_number_set_by_staff_resets_no_password(thief, clock):
    planted_by_staff()
    clock.forward(days=30)

    assert not thief.reset_by_number(PHONE)


def test_number_set_by_staff_resets_the_password_once_its_owner_confirmed_it(thief):
    planted_by_staff()

    answer = thief.put(phone=PHONE, password=PASSWORD)

    assert answer.data["phone_number_verified"] is True
    assert account().phone_set_by == PhoneSource.CONFIRMED
    assert thief.reset_by_number(PHONE)


def test_number_set_by_staff_is_not_confirmed_by_a_profile_without_password(thief):
    planted_by_staff()

    shown = thief.api.get("me", token=thief.token).data["phone_number"]
    assert thief.put(name="Ann", phone=shown).status == 200

    assert account().phone_set_by == PhoneSource.STAFF
    assert not thief.reset_by_number(PHONE)


def test_forgot_password_of_a_refused_number_answers_alike_and_texts_a_refusal(thief, post):
    thief.plant_number()
    usual = thief.api.post("forgot-password", phone=PHONE)
    post.jobs.clear()

    answer = thief.api.post("forgot-password", phone=OTHER_PHONE)

    assert (answer.status, answer.body) == (usual.status, usual.body)
    message = post.outgoing(kinds.RESET_BY_CODE)
    assert (message.kind, message.channel) == (kinds.RESET_BY_CODE_REFUSED, "sms")
    assert "code" not in message.context


def test_code_texted_before_the_number_lost_its_permission_is_refused(thief, flows):
    thief.plant_number(PHONE, password=PASSWORD)
    code = flows.reset_code(PHONE)
    Account.objects.update(phone_set_by=PhoneSource.STAFF)

    answer = flows.reset_by_code(code)

    assert is_refusal(answer, 400, "INVALID_VERIFICATION_CODE")


def test_profile_with_a_wrong_password_changes_nothing(thief):
    answer = thief.put(phone=PHONE, name="Ann", password="wrong")

    assert is_refusal(answer, 401, "INVALID_CREDENTIALS")
    assert (account().phone_number, account().name) == ("", "")


def test_profile_counts_wrong_passwords_as_attempts(thief):
    for _ in range(10):
        thief.put(phone=PHONE, password="wrong")

    assert is_refusal(thief.put(phone=PHONE, password=PASSWORD), 429, "TOO_MANY_ATTEMPTS")


def test_limit_of_changed_numbers_renews_on_time_if_it_was_used_up_late(thief, clock):
    def put(last):
        thief.token = thief.api.log_in()["access_token"]
        return thief.put(phone=f"+49301234{last}00").status

    assert [put(n) for n in range(4)] == [200] * 4
    clock.forward(hours=23, minutes=50)
    assert [put(4), put(5)] == [200, 429]
    clock.forward(minutes=20)

    assert [put(n) for n in range(6)] == [200] * 5 + [429]


def test_profile_accepts_five_changed_numbers_a_day(thief, clock):
    thief.token = thief.api.log_in()["access_token"]
    answers = [thief.put(phone=f"+49301234{n}00") for n in range(6)]

    assert [answer.status for answer in answers] == [200] * 5 + [429]
    assert answers[-1].code == "TOO_MANY_REQUESTS"
    assert 86_000 < int(answers[-1].headers["Retry-After"]) <= 86_401
    clock.forward(days=1, seconds=1)
    thief.token = thief.api.log_in()["access_token"]
    assert thief.put(phone=PHONE).status == 200


def test_profile_accepts_any_changed_numbers_while_rate_limits_are_disabled(thief, no_floods):
    answers = [thief.put(phone=f"+49301234{n}00") for n in range(6)]

    assert {answer.status for answer in answers} == {200}


def test_profile_does_not_count_taken_numbers_as_changed(thief):
    taken()
    for _ in range(6):
        thief.put(phone=OTHER_PHONE)

    assert thief.put(phone=PHONE).status == 200


def test_profile_counts_taken_numbers_as_look_ups(clock, thief, configure):
    configure(THROTTLE={"RATES": {"is-available": "3/d"}})
    taken()

    codes = [thief.put(phone=OTHER_PHONE).code for _ in range(4)]

    assert codes == ["PHONE_ALREADY_IN_USE"] * 3 + ["TOO_MANY_REQUESTS"]
    # A free number does not reveal either that the others were taken.
    assert thief.put(phone=PHONE).code == "TOO_MANY_REQUESTS"


def test_profile_does_not_count_free_numbers_as_look_ups(thief, configure):
    configure(THROTTLE={"RATES": {"is-available": "1/d"}})

    answers = [thief.put(phone=f"+49301234{n}00") for n in range(3)]

    assert {answer.status for answer in answers} == {200}


@pytest.fixture
def strict(configure):
    configure(CORE={"REQUIRE_RECENT_PROOF": True})


def test_recent_proof_is_a_session_of_ten_minutes(thief, strict, clock):
    clock.stand_still()  # exactly at the limit
    thief.token = thief.api.log_in()["access_token"]
    clock.forward(minutes=10)
    assert thief.put(phone=PHONE).status == 200
    clock.forward(seconds=1)

    assert is_refusal(thief.put(phone=OTHER_PHONE), 403, "REAUTHENTICATION_REQUIRED")
    assert thief.put(phone=OTHER_PHONE, password=PASSWORD).status == 200


def test_recent_proof_is_not_a_refreshed_session(thief, strict, clock):
    tokens = thief.api.log_in()
    clock.forward(minutes=11)
    refreshed = thief.api.post("refresh", refresh_token=tokens["refresh_token"]).data
    thief.token = refreshed["access_token"]

    assert is_refusal(thief.put(phone=PHONE), 403, "REAUTHENTICATION_REQUIRED")


def test_recent_proof_is_not_asked_for_other_changes(thief, strict, clock):
    thief.token = thief.api.log_in()["access_token"]
    clock.forward(minutes=11)

    assert thief.put(name="Ann", phone="").status == 200


def test_recent_proof_is_not_asked_for_by_default(thief, clock):
    thief.token = thief.api.log_in()["access_token"]
    clock.forward(minutes=14)

    assert thief.put(phone=PHONE).status == 200


def taken():
    """Another account has verified a number."""
    Api().sign_up("ben@example.com", phone_number=OTHER_PHONE)
    prove("ben@example.com", phone=OTHER_PHONE)
