"""SMS cost money: how many can be caused by one client, by one account and in total."""

import pytest

from authservice.core.messages import compose as composing
from authservice.core.messages.sending import TextPolicy
from authservice.core.models import Account, OneTimeToken
from authservice.core.users.identifiers import phone_key
from authservice.kernel.message_queue import Message
from tests.support.flows import ANN, PHONE, prove
from tests.support.people import make_user

pytestmark = pytest.mark.django_db

NUMBERS = [f"+49301234{number:02}" for number in range(40)]


@pytest.fixture
def texted(api, post, clock):
    """`texted(phone)` requests an SMS; returns how many are sent."""

    def request(phone, path="send-verification-phone", address="192.0.2.1", device=""):
        before = len(post.jobs)
        headers = {"X-Device-Token": device} if device else {}
        answer = api.request("POST", path, {"phone": phone}, headers=headers, REMOTE_ADDR=address)
        assert answer.status == 200
        return len(post.jobs) - before

    return request


@pytest.fixture
def number_of(api):
    """`number_of(token, phone)` sets the number of the logged-in user."""

    def change(token, phone):
        assert api.request("PUT", "profile", {"phone": phone}, token=token).status == 200

    return change


@pytest.fixture
def device(api, clock):
    """`device()` logs Ann in and returns the token of the new device."""

    def session():
        answer = api.post("login", email=ANN, password="plum tart 42 windows")
        return answer.headers["X-Device-Token"]

    api.sign_up(phone_number=PHONE)
    return session


def test_client_can_cause_ten_sms_an_hour_to_all_numbers(texted, clock):
    assert sum(texted(phone) for phone in NUMBERS) == 10

    clock.forward(hours=1)
    assert sum(texted(phone) for phone in NUMBERS) == 10


def test_reset_codes_count_with_the_codes_that_verify_a_number(texted):
    for phone in NUMBERS[:10]:
        texted(phone)

    assert texted(PHONE, "forgot-password") == 0


def test_numbers_of_one_account_are_limited_as_those_of_its_client(api, texted, number_of):
    token = api.sign_up()["access_token"]
    sent = 0
    for phone in NUMBERS[:5]:
        number_of(token, phone)
        sent += sum(texted(phone) for _ in range(3))

    assert sent == 10


def test_client_beyond_its_limit_does_not_count_for_others(texted):
    for phone in NUMBERS[:10]:
        texted(phone)
    for _ in range(40):
        texted(PHONE)

    assert texted(PHONE, address="192.0.2.2") == 1


def test_emails_are_not_counted_with_sms(api, post, texted):
    for phone in NUMBERS[:10]:
        texted(phone)

    before = len(post.jobs)
    api.post("forgot-password", email=ANN)
    assert len(post.jobs) == before + 1


def test_known_device_is_counted_separately_from_its_network(texted, device):
    token = device()
    for phone in NUMBERS[:10]:
        texted(phone)

    assert texted(PHONE) == 0
    assert texted(PHONE, device=token) == 1


def test_new_devices_of_one_account_share_thirty_sms_a_day(texted, device, number_of, api, clock):
    sent = 0
    for _ in range(5):
        for _ in range(3):
            token = device()
            sent += sum(
                texted(PHONE, path, device=token)
                for path in ("send-verification-phone", "forgot-password")
                for _ in range(3)
            )
        clock.forward(hours=2)

    assert sent == 30


def test_accounts_of_one_client_share_thirty_sms_an_hour_to_unverified_numbers(api, texted):
    sent = 0
    for number, phone in enumerate(NUMBERS[:15]):
        address = f"ann{number}@example.com"
        body = {"email": address, "password": "plum tart 42 windows", "phone_number": phone}
        answer = api.request("POST", "signup", body, REMOTE_ADDR=f"192.0.2.{number}")
        device = answer.headers["X-Device-Token"]
        sent += sum(texted(phone, device=device) for _ in range(3))

    assert sent == 30


def test_codes_that_a_signup_sends_are_limited_with_all_others(api, post, configure):
    configure(CORE={"REQUIRE_PHONE_VERIFICATION": True})
    for number, phone in enumerate(NUMBERS[:15]):
        api.sign_up(f"ann{number}@example.com", phone_number=phone)

    assert post.kinds().count("verify-phone") == 10


def test_sms_limits_can_be_turned_off(texted, configure):
    configure(THROTTLE={"ENABLED": False})

    assert sum(texted(phone) for phone in NUMBERS) == 40


@pytest.fixture
def worker(post, clock):
    """`worker(phone)`: whether the worker sends an SMS to the number."""

    def compose(phone, kind="verify-phone", **policy):
        message = Message(kind=kind, target=phone, requested=True)
        return composing.compose(message, TextPolicy(**policy)) is not None

    return compose


@pytest.fixture
def users(db):
    """Forty users with a number each; those of the first twenty are verified."""
    for number, phone in enumerate(NUMBERS):
        user = make_user(f"ann{number}@example.com")
        columns = {"phone_number": phone, "phone_key": phone_key(phone)}
        Account.objects.filter(user=user).update(**columns)
        if number < 20:
            prove(f"ann{number}@example.com", phone)
    return NUMBERS[:20], NUMBERS[20:]


def test_fifth_of_the_total_limit_is_reserved_for_verified_numbers(worker, users, clock):
    verified, unverified = users

    assert sum(worker(phone, per_hour=10) for phone in unverified) == 8
    assert sum(worker(phone, "reset-code", per_hour=10) for phone in verified) == 2
    clock.forward(hours=1)
    assert sum(worker(phone, "reset-code", per_hour=10) for phone in verified) == 10


def test_total_limit_renews_on_time_if_it_was_used_up_late(worker, users, clock):
    verified, unverified = users
    assert sum(worker(phone, "reset-code", per_hour=10) for phone in verified[:9]) == 9
    clock.forward(minutes=59)
    assert sum(worker(phone, "reset-code", per_hour=10) for phone in verified) == 1
    clock.forward(minutes=1)

    assert sum(worker(phone, per_hour=10) for phone in unverified) == 8


def test_used_up_total_limit_is_logged_once_an_hour(worker, users, clock, caplog):
    verified, _ = users
    for _ in range(2):
        for phone in verified:
            worker(phone, "reset-code", per_hour=5)
        clock.forward(hours=1)

    lines = [line for line in caplog.messages if "SMS_PER_HOUR" in line]
    assert len(lines) == 2
    assert not any(phone in line for phone in verified for line in lines)


def test_sms_beyond_the_total_limit_issues_no_code(worker, users):
    _, unverified = users
    for phone in unverified:
        worker(phone, per_hour=10)

    assert OneTimeToken.objects.count() == 8


def test_unknown_numbers_do_not_count_for_the_total_limit(worker, users):
    for number in range(40):
        worker(f"+49301299{number:02}", per_hour=10)

    assert worker(NUMBERS[0], "reset-code", per_hour=10)


@pytest.mark.parametrize(
    ("phone", "countries", "sent"),
    [
        ("+4930123400", ("DE",), True),
        ("+4930123400", ("AT", "DE"), True),
        ("+4930123400", ("AT",), False),
        ("+18762345678", ("US",), False),  # Jamaica has the same calling code
        ("+12125552368", ("US",), True),
    ],
)
def test_sms_are_sent_to_listed_countries_only(worker, db, phone, countries, sent):
    user = make_user()
    Account.objects.filter(user=user).update(phone_number=phone, phone_key=phone_key(phone))

    assert worker(phone, countries=countries) is sent


def test_country_that_is_not_listed_is_logged_once_a_day(worker, db, clock, caplog):
    phones = ("+4930123400", "+4930123401", "+12125552368")
    for number, phone in enumerate(phones):
        user = make_user(f"user{number}@example.com")
        Account.objects.filter(user=user).update(phone_number=phone, phone_key=phone_key(phone))

    def lines():
        return [line for line in caplog.messages if "SMS_COUNTRIES" in line]

    for phone in phones:
        assert not worker(phone, countries=("AT",))

    assert ["(DE)" in line for line in lines()] == [True, False]
    assert not any(phone in caplog.text for phone in phones)
    clock.forward(days=1, seconds=1)
    worker(phones[0], countries=("AT",))
    assert len(lines()) == 3


def test_listed_countries_apply_without_rate_limits(worker, users, configure):
    configure(THROTTLE={"ENABLED": False})

    assert not worker(NUMBERS[0], "reset-code", countries=("AT",))
    assert all(worker(phone, "reset-code", per_hour=1) for phone in NUMBERS[:20])
