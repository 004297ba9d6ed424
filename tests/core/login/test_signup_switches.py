"""The settings of sign-up, and their effect on the new user."""

import pytest

from authservice import signals
from authservice.core.models import Account, Session
from authservice.core.users.identifiers import email_key
from tests.support.client import PASSWORD
from tests.support.people import the_user, users

pytestmark = pytest.mark.django_db


@pytest.fixture
def verified():
    """Returns a function that marks an address, by default the first user's, as verified."""

    def verified(email="ann@example.com"):
        Account.objects.filter(user=the_user(email)).update(verified_email_key=email_key(email))

    return verified


def test_signup_when_disabled_creates_no_user(api, configure):
    configure(CORE={"ALLOW_SIGNUP": False})

    api.post("signup", email="ann@example.com", password=PASSWORD)

    assert users() == 0


def test_signup_when_disabled_does_not_reveal_existing_accounts(api, configure):
    api.sign_up()
    configure(CORE={"ALLOW_SIGNUP": False})

    answer = api.post("signup", email="ann@example.com", password=PASSWORD)

    assert answer.error == (403, "SIGNUP_DISABLED")


def test_signup_with_required_verification_starts_no_session(api, configure):
    configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})

    api.post("signup", email="ann@example.com", password=PASSWORD)

    assert (users(), Session.objects.count()) == (1, 0)


def test_signup_with_required_verification_issues_no_device_token(api, configure):
    configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})

    answer = api.post("signup", email="ann@example.com", password=PASSWORD)

    assert "X-Device-Token" not in answer.headers
    assert set(answer.response.cookies) == {"authservice_signup"}


@pytest.mark.parametrize(
    ("setting", "code"),
    [
        ("REQUIRE_EMAIL_VERIFICATION", "EMAIL_NOT_VERIFIED"),
        ("REQUIRE_PHONE_VERIFICATION", "PHONE_NOT_VERIFIED"),
    ],
)
def test_missing_verification_is_revealed_only_with_the_right_password(
    api, configure, setting, code
):
    api.sign_up(phone_number="+4930123456")
    configure(CORE={setting: True})

    wrong = api.post("login", email="ann@example.com", password="wrong plum tart")
    right = api.post("login", email="ann@example.com", password=PASSWORD)

    assert (wrong.error, right.error) == ((401, "INVALID_CREDENTIALS"), (403, code))


def test_login_with_a_verified_address_succeeds(api, configure, verified):
    api.sign_up()
    configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})
    verified()

    assert api.log_in()["user"]["email_verified"] is True


def test_inactive_user_is_revealed_only_with_the_right_password(api):
    api.sign_up()
    Account.objects.update(active=False)
    type(the_user()).objects.update(is_active=False)

    wrong = api.post("login", email="ann@example.com", password="wrong plum tart")
    right = api.post("login", email="ann@example.com", password=PASSWORD)

    assert (wrong.error, right.error) == ((401, "INVALID_CREDENTIALS"), (403, "USER_NOT_ACTIVE"))


def test_signup_sends_signed_up(api, received):
    events = received(signals.signed_up)

    api.sign_up()

    assert [(event.action, event.user) for event in events] == [("auth.signup", the_user())]


def test_signup_does_not_send_signed_in(api, received):
    events = received(signals.logged_in)

    api.sign_up()

    assert events == []


def test_signup_succeeds_if_a_receiver_of_the_host_raises(api, caplog):
    def fail(**_):
        raise RuntimeError("a host's fault")

    signals.signed_up.connect(fail)
    try:
        answer = api.post("signup", email="ann@example.com", password=PASSWORD)
    finally:
        signals.signed_up.disconnect(fail)

    assert answer.status == 201
    assert "auth.signup failed" in caplog.text
