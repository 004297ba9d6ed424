"""What a host can decide about signing up, and what becomes of the newcomer."""

import pytest

from authservice import signals
from authservice.core.models import Account, Session
from authservice.core.users.identifiers import email_key
from tests.client import PASSWORD
from tests.people import the_user, users

pytestmark = pytest.mark.django_db


@pytest.fixture
def verified():
    """The address of the first user is proven from here on."""

    def verified(email="ann@example.com"):
        Account.objects.filter(user=the_user(email)).update(verified_email_key=email_key(email))

    return verified


def test_a_closed_signup_makes_no_user(api, configure):
    configure(CORE={"ALLOW_SIGNUP": False})

    api.post("signup", email="ann@example.com", password=PASSWORD)

    assert users() == 0


def test_a_closed_signup_does_not_tell_who_has_an_account(api, configure):
    api.sign_up()
    configure(CORE={"ALLOW_SIGNUP": False})

    answer = api.post("signup", email="ann@example.com", password=PASSWORD)

    assert answer.error == (403, "SIGNUP_DISABLED")


def test_where_verification_comes_first_a_signup_is_no_sign_in(api, configure):
    configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})

    api.post("signup", email="ann@example.com", password=PASSWORD)

    assert (users(), Session.objects.count()) == (1, 0)


def test_where_verification_comes_first_a_signup_hands_out_no_device(api, configure):
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
def test_only_the_right_password_learns_that_verification_is_missing(api, configure, setting, code):
    api.sign_up(phone_number="+4930123456")
    configure(CORE={setting: True})

    wrong = api.post("login", email="ann@example.com", password="wrong plum tart")
    right = api.post("login", email="ann@example.com", password=PASSWORD)

    assert (wrong.error, right.error) == ((401, "INVALID_CREDENTIALS"), (403, code))


def test_a_verified_address_logs_in(api, configure, verified):
    api.sign_up()
    configure(CORE={"REQUIRE_EMAIL_VERIFICATION": True})
    verified()

    assert api.log_in()["user"]["email_verified"] is True


def test_only_the_right_password_learns_that_a_user_is_inactive(api):
    api.sign_up()
    Account.objects.update(active=False)
    type(the_user()).objects.update(is_active=False)

    wrong = api.post("login", email="ann@example.com", password="wrong plum tart")
    right = api.post("login", email="ann@example.com", password=PASSWORD)

    assert (wrong.error, right.error) == ((401, "INVALID_CREDENTIALS"), (403, "USER_NOT_ACTIVE"))


def test_a_signup_is_told_to_the_host(api, heard, django_capture_on_commit_callbacks):
    events = heard(signals.signed_up)

    with django_capture_on_commit_callbacks(execute=True):
        api.sign_up()

    assert [(event.action, event.user) for event in events] == [("auth.signup", the_user())]


def test_a_signup_is_not_told_as_a_login_too(api, heard, django_capture_on_commit_callbacks):
    events = heard(signals.signed_in)

    with django_capture_on_commit_callbacks(execute=True):
        api.sign_up()

    assert events == []


def test_a_receiver_of_the_host_that_raises_harms_nobody(
    api, caplog, django_capture_on_commit_callbacks
):
    def fail(**_):
        raise RuntimeError("a host's fault")

    signals.signed_up.connect(fail)
    try:
        with django_capture_on_commit_callbacks(execute=True):
            answer = api.post("signup", email="ann@example.com", password=PASSWORD)
    finally:
        signals.signed_up.disconnect(fail)

    assert answer.status == 201
    assert "auth.signup failed" in caplog.text
