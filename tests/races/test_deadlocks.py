"""A request that the database ends for the sake of another transaction is tried again, whole."""

from threading import Event, Thread
from time import sleep

import pytest
from django.contrib.auth import get_user_model
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from authservice.core.models import AttemptCounter, OneTimeToken, Session
from authservice.kernel import retries
from tests.client import PASSWORD
from tests.people import the_user

PATIENCE = 60
NEW = "quince jelly 17 shutters"


class Crosswise:
    """A transaction of the host that takes rows the other way round than we do.

    Once a request has changed the row of a user, it holds what `first` changes, which that request
    is about to change as well, and changes what the request holds.
    """

    def __init__(self, *, first):
        self.fate = ""
        self._change = f"UPDATE {connection.ops.quote_name(get_user_model()._meta.db_table)}"
        self._first = first
        self._begun, self._holds = False, Event()
        self._thread = Thread(target=self._run)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._begun:
            self._thread.join(PATIENCE)

    def meet(self, execute, sql, params, many, context):
        """Wraps the statements of a request."""
        outcome = execute(sql, params, many, context)
        in_transaction = context["connection"].in_atomic_block
        if sql.startswith(self._change) and in_transaction and not self._begun:
            self._begun = True
            self._thread.start()
            assert self._holds.wait(PATIENCE)
        return outcome

    def _run(self):
        try:
            with transaction.atomic():
                self._first()
                self._outweigh()
                self._holds.set()
                sleep(0.3)  # PostgreSQL ends who has waited longer: let that be the request
                users().update(is_active=True)
            self.fate = "committed"
        except OperationalError as wrong:
            self.fate = str(wrong)
        finally:
            connection.close()

    def _outweigh(self):
        """MariaDB ends who has changed less."""
        tickets = (OneTimeToken(purpose="host", expires_at=timezone.now()) for _ in range(100))
        OneTimeToken.objects.bulk_create(tickets)


def users():
    return get_user_model().objects.filter(pk=the_user().pk)


@pytest.fixture
def change_password(api, transactional_db):
    """Change the password of somebody whose rows another holds crosswise."""
    token = api.sign_up()["access_token"]

    def change():
        new = {"old_password": PASSWORD, "new_password": NEW}
        held = Crosswise(first=lambda: Session.objects.update(user_agent="of the host"))
        with held as other, connection.execute_wrapper(other.meet):
            answer = api.request("PUT", "change-password", new, token=token)
        assert other.fate == "committed"
        return answer

    return change


def test_what_a_deadlock_undid_is_done_anew(change_password, api):
    assert change_password().status == 200
    assert api.log_in(password=NEW)


def test_that_it_was_is_logged(change_password, caplog):
    change_password()

    assert caplog.messages[0].startswith("Retrying a transaction")


def test_it_is_a_crash_once_it_was_tried_often_enough(change_password, api, monkeypatch):
    monkeypatch.setattr(retries, "_ATTEMPTS", 1)

    assert change_password().code == "INTERNAL_ERROR"
    assert api.log_in(password=PASSWORD)


def test_a_right_password_that_it_undid_is_no_guess(api, transactional_db):
    api.sign_up()
    api.log_in()  # so that there is a row to hold
    held = Crosswise(first=lambda: AttemptCounter.objects.update(strikes=0))
    with held as other, connection.execute_wrapper(other.meet):
        assert api.log_in(password=PASSWORD)

    assert other.fate == "committed"
    assert AttemptCounter.objects.get().count == 0
