"""AUTO_REGISTER creates an account for an unknown address; nobody owns it until the first login."""

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db.models import ProtectedError
from django.db.models.signals import pre_delete
from django.utils import timezone

from authservice import signals
from authservice.core.login import login
from authservice.core.messages import kinds
from authservice.core.models import Account, OneTimeToken, Session
from authservice.core.users import lookup
from authservice.kernel.client import Client
from tests.contract.shapes import is_refusal
from tests.magiclink.magic import ANN
from tests.support.client import PASSWORD
from tests.support.flows import Flows, account
from tests.support.people import make_user, the_user, users

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _auto_register(magiclink):
    magiclink(AUTO_REGISTER=True)


@pytest.fixture
def cleanup(capsys):
    def cleanup():
        call_command("authservice_cleanup")
        return capsys.readouterr().out

    return cleanup


@pytest.fixture
def stale(clock, magic):
    """Ann requested a link, and a day passed."""
    pair = magic.mailed()
    clock.forward(hours=24)
    return pair


def test_account_is_not_created_if_sign_up_is_closed(magic, configure):
    configure(CORE={"ALLOW_SIGNUP": False}, MAGICLINK={"AUTO_REGISTER": True})
    magic.ask()

    assert magic.message() is None
    assert users() == 0


def test_account_is_not_created_if_auto_register_is_off(magic, magiclink):
    magiclink(AUTO_REGISTER=False)
    magic.ask()

    assert magic.message() is None
    assert users() == 0


def test_account_is_not_created_by_the_request(magic):
    magic.ask()

    assert users() == 0


def test_address_with_quotes_gets_no_account_and_no_email(magic):
    for number in range(3):
        magic.ask('"' + "\\" * number + 'ann"@example.com')

    assert magic.message() is None
    assert users() == 0


def test_user_who_has_an_address_with_quotes_gets_an_email(magic):
    make_user('"ann"@example.com', username="ann")

    magic.mailed('"ann"@example.com')


def test_account_is_created_by_the_worker_without_password_and_unverified(magic):
    magic.mailed()

    person = account()
    assert not person.user.has_usable_password()
    assert (person.email, person.verified_email_key) == (ANN, "")


@pytest.mark.parametrize("way", ["link", "code"])
def test_first_login_verifies_the_address(magic, api, way):
    pair = magic.mailed()

    answer = magic.follow(pair.token) if way == "link" else magic.type(pair.code)

    assert answer.data["user"]["email_verified"] is True
    assert api.get("me", token=answer.data["access_token"]).data["email"] == ANN


def test_new_user_gets_no_email_about_removed_access(magic, post):
    magic.follow(magic.mailed().token)

    assert kinds.ACCESS_WIPED not in post.kinds()


def test_second_request_creates_no_other_account(magic):
    magic.mailed()
    magic.mailed("ANN@example.com")

    assert users() == 1


def test_new_account_is_signalled_to_the_host(magic, received, django_capture_on_commit_callbacks):
    events = received(signals.signed_up)
    with django_capture_on_commit_callbacks(execute=True):
        magic.mailed()
        magic.mailed()

    assert [event.metadata for event in events] == [{"method": "magic-link"}]


def test_job_that_is_retried_creates_no_other_account(magic):
    magic.ask()
    messages = [magic.message(), magic.message()]

    assert users() == 1
    assert all(messages)


def test_address_that_two_users_claim_gets_no_account(magic, api):
    api.sign_up()
    Account.objects.update(email_key=None)
    magic.ask()
    before = users()

    magic.message()

    assert users() == before


def test_accounts_of_one_network_are_limited(clock, magic, configure):
    configure(MAGICLINK={"AUTO_REGISTER": True}, THROTTLE={"RATES": {"auto-register": "3/h"}})
    messages = []
    for number in range(5):
        magic.ask(f"new{number}@example.com")
        messages.append(magic.message())

    assert [bool(message) for message in messages] == [True] * 3 + [False] * 2
    assert users() == 3


def test_user_with_an_account_gets_an_email_beyond_that_limit(magic, api, configure):
    api.sign_up()
    configure(MAGICLINK={"AUTO_REGISTER": True}, THROTTLE={"RATES": {"auto-register": "1/h"}})
    for number in range(3):
        magic.ask(f"new{number}@example.com")
        magic.message()
    magic.ask()

    assert magic.message()


def test_accounts_of_another_network_have_their_own_limit(magic, api, configure):
    configure(MAGICLINK={"AUTO_REGISTER": True}, THROTTLE={"RATES": {"auto-register": "1/h"}})
    for number in range(3):
        body = {"email": f"new{number}@example.com"}
        api.request("POST", "magic-link/send", body, REMOTE_ADDR=f"198.51.100.{number}")
        assert magic.message()

    assert users() == 3


class TestCleanup:
    def test_unused_account_is_deleted(self, stale, cleanup):
        assert "unused accounts: 1 deleted" in cleanup()
        assert users() == 0
        assert not OneTimeToken.objects.exists()

    def test_unused_account_is_kept_for_a_day(self, magic, clock, cleanup):
        magic.mailed()
        clock.forward(hours=23, minutes=59)

        assert "unused accounts: 0 deleted" in cleanup()
        assert users() == 1

    def test_unused_account_is_deleted_after_any_time(self, magic, clock, cleanup):
        magic.mailed()
        clock.forward(days=40)

        assert "unused accounts: 1 deleted" in cleanup()

    def test_used_account_is_kept(self, magic, clock, cleanup):
        magic.follow(magic.mailed().token)
        clock.forward(days=200)
        cleanup()

        assert users() == 1

    def test_account_with_a_password_is_kept(self, magic, api, post, clock, cleanup):
        magic.mailed()
        flows = Flows(api, post)
        flows.reset(flows.reset_token())
        clock.forward(days=2)
        cleanup()

        assert users() == 1

    def test_account_with_a_verified_address_is_kept(self, magic, api, post, clock, cleanup):
        magic.mailed()
        flows = Flows(api, post)
        assert flows.click(flows.email_token()).status == 200
        clock.forward(days=2)
        cleanup()

        assert users() == 1

    def test_account_used_by_another_way_to_sign_in_is_kept(self, magic, clock, cleanup):
        magic.mailed()
        login.enter(lookup.get_person(the_user()), Client(), method="oauth", proofs=("fed",))
        clock.forward(days=2)
        cleanup()

        assert users() == 1

    def test_used_account_without_session_and_verification_is_kept(self, magic, clock, cleanup):
        magic.follow(magic.mailed().token)
        Session.objects.all().delete()
        Account.objects.update(verified_email_key="")
        clock.forward(days=2)
        cleanup()

        assert users() == 1

    def test_account_that_staff_changed_is_kept(self, stale, cleanup):
        Account.objects.update(updated_at=timezone.now())
        cleanup()

        assert users() == 1

    def test_account_that_was_signed_up_is_kept(self, magic, api, clock, cleanup):
        api.sign_up()
        magic.mailed()
        clock.forward(days=2)
        cleanup()

        assert users() == 1

    def test_account_that_the_host_created_is_kept(self, magic, clock, cleanup):
        make_user(password=None)
        magic.mailed()
        clock.forward(days=2)
        cleanup()

        assert users() == 1

    def test_account_that_the_host_protects_is_kept_and_others_are_deleted(
        self, magic, clock, cleanup
    ):
        magic.mailed()
        magic.mailed("ben@example.com")
        clock.forward(days=2)
        kept = the_user().pk

        def protect(instance, **_):
            if instance.pk == kept:
                raise ProtectedError("the host needs them", {instance})

        pre_delete.connect(protect, sender=type(the_user()))
        try:
            output = cleanup()
        finally:
            pre_delete.disconnect(protect, sender=type(the_user()))

        assert "unused accounts: 1 deleted" in output
        assert the_user().pk == kept

    def test_link_of_a_deleted_account_is_invalid(self, magic, magiclink, clock, cleanup):
        magiclink(AUTO_REGISTER=True, TTL=timedelta(days=3))
        pair = magic.mailed()
        clock.forward(days=1)
        cleanup()

        assert is_refusal(magic.follow(pair.token), 400, "INVALID_TOKEN")


def test_account_without_a_password_refuses_login_by_password(magic, api):
    magic.mailed()

    answer = api.post("login", email=ANN, password=PASSWORD)

    assert is_refusal(answer, 401, "INVALID_CREDENTIALS")
