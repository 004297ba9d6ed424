"""With several databases, authservice writes to the database of the users, in one transaction."""

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.signals import user_logged_in
from django.db import connections, router
from django.db.models.signals import post_save

from authservice import signals
from authservice.core.models import Account, Session
from authservice.kernel import databases, modules
from tests.support.client import PASSWORD

pytestmark = [
    pytest.mark.django_db(transaction=True, databases="__all__"),
    pytest.mark.skipif(len(list(connections)) == 1, reason="this host has one database"),
]


class Messenger:
    can_sms = False

    def __init__(self):
        self.jobs = []

    def send(self, message):
        # Sent after the commit, so no transaction is open.
        assert not any(one.in_atomic_block for one in connections.all())
        self.jobs.append(message.kind)


@pytest.fixture
def messenger():
    made = Messenger()
    with modules.plugged("messenger", made):
        yield made


@pytest.fixture
def signed_up(received):
    return received(signals.signed_up)


@pytest.fixture
def failing_signup():
    """Make the last step of a sign-up fail."""

    def fail(**_):
        raise RuntimeError

    user_logged_in.connect(fail)
    yield
    user_logged_in.disconnect(fail)


def test_rows_are_in_the_database_of_the_users(api):
    api.sign_up()

    home = router.db_for_write(Account)
    assert databases.primary() == home == router.db_for_write(get_user_model())
    assert [model.objects.using(home).count() for model in (Account, Session)] == [1, 1]


def test_signup_is_one_transaction_in_the_database_of_the_users(api):
    seen = []

    def look(using, **_):
        seen.append((using, connections[using].in_atomic_block))

    post_save.connect(look, sender=get_user_model())
    api.sign_up()
    post_save.disconnect(look, sender=get_user_model())

    assert set(seen) == {(databases.primary(), True)}


def test_rolled_back_signup_sends_no_message_or_signal(
    robust, failing_signup, messenger, signed_up
):
    answer = robust.post("signup", email="ann@example.com", password=PASSWORD)

    assert answer.error == (500, "INTERNAL_ERROR")
    assert not get_user_model().objects.using(databases.primary()).exists()
    assert (messenger.jobs, signed_up) == ([], [])


def test_signup_sends_message_and_signal_after_the_commit(api, messenger, signed_up):
    api.sign_up()

    assert messenger.jobs == ["verify-email"]
    assert [event.action for event in signed_up] == ["auth.signup"]


def test_requested_email_is_sent_after_commit_of_the_database_of_the_users(api, messenger):
    api.sign_up()
    messenger.jobs.clear()

    api.post("forgot-password", email="ann@example.com")

    assert messenger.jobs == ["reset-link"]
