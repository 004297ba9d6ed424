"""With AUTO_REGISTER an unknown address gets an account that is nobody's until the mail is used."""

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db.models import ProtectedError
from django.db.models.signals import pre_delete
from django.utils import timezone

from authservice import signals
from authservice.core.login import login
from authservice.core.models import Account, OneTimeToken, Session
from authservice.core.users import lookup
from authservice.kernel import message_queue
from authservice.kernel.client import Client
from tests.client import PASSWORD
from tests.contract.shapes import is_refusal
from tests.magiclink.magic import ANN
from tests.people import make_user, the_user, users
from tests.recovery.flows import Flows, account

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _registering(magiclink):
    magiclink(AUTO_REGISTER=True)


@pytest.fixture
def sweep(capsys):
    def sweep():
        call_command("authservice_cleanup")
        return capsys.readouterr().out

    return sweep


@pytest.fixture
def stale(clock, magic):
    """Ann asked, and a day passed."""
    pair = magic.mailed()
    clock.forward(hours=24)
    return pair


def test_without_it_nobody_is_made(magic, magiclink):
    magiclink(AUTO_REGISTER=False)
    magic.ask()

    assert magic.letter() is None
    assert users() == 0


def test_the_request_makes_nobody(magic):
    magic.ask()

    assert users() == 0


def test_an_address_with_quotes_gets_no_account_and_no_mail(magic):
    for number in range(3):
        magic.ask('"' + "\\" * number + 'ann"@example.com')

    assert magic.letter() is None
    assert users() == 0


def test_a_user_who_has_an_address_with_quotes_gets_a_mail(magic):
    make_user('"ann"@example.com', username="ann")

    magic.mailed('"ann"@example.com')


def test_the_worker_makes_an_account_without_password_or_proof(magic):
    magic.mailed()

    person = account()
    assert not person.user.has_usable_password()
    assert (person.email, person.verified_email_key) == (ANN, "")


@pytest.mark.parametrize("road", ["link", "code"])
def test_using_the_mail_signs_in_and_proves_the_address(magic, api, road):
    pair = magic.mailed()

    answer = magic.follow(pair.token) if road == "link" else magic.type(pair.code)

    assert answer.data["user"]["email_verified"] is True
    assert api.get("me", token=answer.data["access_token"]).data["email"] == ANN


def test_somebody_new_is_not_told_that_something_was_taken_away(magic, post):
    magic.follow(magic.mailed().token)

    assert message_queue.ACCESS_WIPED not in post.kinds()


def test_asking_again_makes_nobody_else(magic):
    magic.mailed()
    magic.mailed("ANN@example.com")

    assert users() == 1


def test_the_host_hears_of_somebody_new(magic, heard, django_capture_on_commit_callbacks):
    events = heard(signals.signed_up)
    with django_capture_on_commit_callbacks(execute=True):
        magic.mailed()
        magic.mailed()

    assert [event.metadata for event in events] == [{"method": "magic-link"}]


def test_a_job_that_is_tried_again_makes_nobody_else(magic):
    magic.ask()
    letters = [magic.letter(), magic.letter()]

    assert users() == 1
    assert all(letters)


def test_an_address_that_two_claim_gets_no_account(magic, api):
    api.sign_up()
    Account.objects.update(email_key=None)
    magic.ask()
    before = users()

    magic.letter()

    assert users() == before


def test_one_network_makes_so_many_accounts_and_no_more(magic, configure):
    configure(MAGICLINK={"AUTO_REGISTER": True}, THROTTLE={"RATES": {"auto-register": "3/h"}})
    letters = []
    for number in range(5):
        magic.ask(f"stranger{number}@example.com")
        letters.append(magic.letter())

    assert [bool(letter) for letter in letters] == [True] * 3 + [False] * 2
    assert users() == 3


def test_who_has_an_account_is_written_to_past_that_limit(magic, api, configure):
    api.sign_up()
    configure(MAGICLINK={"AUTO_REGISTER": True}, THROTTLE={"RATES": {"auto-register": "1/h"}})
    for number in range(3):
        magic.ask(f"stranger{number}@example.com")
        magic.letter()
    magic.ask()

    assert magic.letter()


def test_another_network_has_its_own_share(magic, api, configure):
    configure(MAGICLINK={"AUTO_REGISTER": True}, THROTTLE={"RATES": {"auto-register": "1/h"}})
    for number in range(3):
        body = {"email": f"stranger{number}@example.com"}
        api.request("POST", "magic-link/send", body, REMOTE_ADDR=f"198.51.100.{number}")
        assert magic.letter()

    assert users() == 3


class TestSweep:
    def test_it_takes_away_who_never_came(self, stale, sweep):
        assert "unused accounts: 1 deleted" in sweep()
        assert users() == 0
        assert not OneTimeToken.objects.exists()

    def test_not_before_a_day_has_passed(self, magic, clock, sweep):
        magic.mailed()
        clock.forward(hours=23, minutes=59)

        assert "unused accounts: 0 deleted" in sweep()
        assert users() == 1

    def test_late_is_not_too_late(self, magic, clock, sweep):
        magic.mailed()
        clock.forward(days=40)

        assert "unused accounts: 1 deleted" in sweep()

    def test_who_came_stays(self, magic, clock, sweep):
        magic.follow(magic.mailed().token)
        clock.forward(days=200)
        sweep()

        assert users() == 1

    def test_who_set_a_password_stays(self, magic, api, post, clock, sweep):
        magic.mailed()
        flows = Flows(api, post)
        flows.reset(flows.reset_token())
        clock.forward(days=2)
        sweep()

        assert users() == 1

    def test_who_verified_the_address_stays(self, magic, api, post, clock, sweep):
        magic.mailed()
        flows = Flows(api, post)
        assert flows.click(flows.email_token()).status == 200
        clock.forward(days=2)
        sweep()

        assert users() == 1

    def test_who_came_by_another_way_without_a_password_stays(self, magic, clock, sweep):
        magic.mailed()
        login.complete(lookup.get_person(the_user()), Client(), method="oauth", proofs=("fed",))
        clock.forward(days=2)
        sweep()

        assert users() == 1

    def test_who_came_stays_when_the_session_and_the_proof_are_gone(self, magic, clock, sweep):
        magic.follow(magic.mailed().token)
        Session.objects.all().delete()
        Account.objects.update(verified_email_key="")
        clock.forward(days=2)
        sweep()

        assert users() == 1

    def test_whom_staff_looked_after_stays(self, stale, sweep):
        Account.objects.update(updated_at=timezone.now())
        sweep()

        assert users() == 1

    def test_who_signed_up_by_themselves_stays(self, magic, api, clock, sweep):
        api.sign_up()
        magic.mailed()
        clock.forward(days=2)
        sweep()

        assert users() == 1

    def test_who_came_to_us_with_the_host_stays(self, magic, clock, sweep):
        make_user(password=None)
        magic.mailed()
        clock.forward(days=2)
        sweep()

        assert users() == 1

    def test_whom_the_host_protects_stays_and_holds_up_nobody(self, magic, clock, sweep):
        magic.mailed()
        magic.mailed("ben@example.com")
        clock.forward(days=2)
        kept = the_user().pk

        def protect(instance, **_):
            if instance.pk == kept:
                raise ProtectedError("the host needs them", {instance})

        pre_delete.connect(protect, sender=type(the_user()))
        try:
            told = sweep()
        finally:
            pre_delete.disconnect(protect, sender=type(the_user()))

        assert "unused accounts: 1 deleted" in told
        assert the_user().pk == kept

    def test_a_link_of_who_went_is_none(self, magic, magiclink, clock, sweep):
        magiclink(AUTO_REGISTER=True, TTL=timedelta(days=3))
        pair = magic.mailed()
        clock.forward(days=1)
        sweep()

        assert is_refusal(magic.follow(pair.token), 400, "INVALID_TOKEN")


def test_a_password_of_theirs_signs_nobody_in_before_there_is_one(magic, api):
    magic.mailed()

    answer = api.post("login", email=ANN, password=PASSWORD)

    assert is_refusal(answer, 401, "INVALID_CREDENTIALS")
