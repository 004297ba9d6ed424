"""With several databases, what belongs together is written together, where people are."""

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.signals import user_logged_in
from django.db import connections, router
from django.db.models.signals import post_save

from authservice import signals
from authservice.core.models import Account, Session
from authservice.kernel import databases, modules
from tests.client import PASSWORD

pytestmark = [
    pytest.mark.django_db(transaction=True, databases="__all__"),
    pytest.mark.skipif(len(list(connections)) == 1, reason="this host has one database"),
]


class Tray:
    can_sms = False

    def __init__(self):
        self.jobs = []

    def send(self, message):
        # Handed over after the commit: nothing of ours is open any more.
        assert not any(one.in_atomic_block for one in connections.all())
        self.jobs.append(message.kind)


@pytest.fixture
def tray():
    made = Tray()
    with modules.plugged("messenger", made):
        yield made


@pytest.fixture
def heard_of(heard):
    return heard(signals.signed_up)


@pytest.fixture
def spoilt():
    """The last step of a sign-up fails."""

    def fail(**_):
        raise RuntimeError

    user_logged_in.connect(fail)
    yield
    user_logged_in.disconnect(fail)


def test_people_are_where_the_router_says(api):
    api.sign_up()

    home = router.db_for_write(Account)
    assert databases.primary() == home == router.db_for_write(get_user_model())
    assert [model.objects.using(home).count() for model in (Account, Session)] == [1, 1]


def test_a_deed_is_one_transaction_there(api):
    seen = []

    def look(using, **_):
        seen.append((using, connections[using].in_atomic_block))

    post_save.connect(look, sender=get_user_model())
    api.sign_up()
    post_save.disconnect(look, sender=get_user_model())

    assert set(seen) == {(databases.primary(), True)}


def test_what_was_undone_is_told_to_nobody(robust, spoilt, tray, heard_of):
    answer = robust.post("signup", email="ann@example.com", password=PASSWORD)

    assert answer.error == (500, "INTERNAL_ERROR")
    assert not get_user_model().objects.using(databases.primary()).exists()
    assert (tray.jobs, heard_of) == ([], [])


def test_what_was_done_is_told_after_the_commit(api, tray, heard_of):
    api.sign_up()

    assert tray.jobs == ["verify-email"]
    assert [event.action for event in heard_of] == ["auth.signup"]


def test_asking_for_a_letter_is_of_the_same_database(api, tray):
    api.sign_up()
    tray.jobs.clear()

    api.post("forgot-password", email="ann@example.com")

    assert tray.jobs == ["reset-link"]
