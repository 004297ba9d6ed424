"""A request whose transaction the database aborts to resolve a deadlock is retried as a whole."""

from threading import Event, Thread
from time import sleep

import pytest
from django.contrib.auth import get_user_model
from django.db import OperationalError, connection, transaction
from django.db.models.signals import pre_save
from django.utils import timezone

from authservice.core.models import AttemptCounter, OneTimeToken, Session
from authservice.kernel import databases
from tests.support.client import PASSWORD
from tests.support.people import the_user

PATIENCE = 60
NEW = "quince jelly 17 shutters"


class HostTransaction:
    """A transaction of the host that locks rows in the opposite order.

    Once a request has changed the row of a user, this transaction locks the rows that `first`
    changes, which the request will change next, and then changes the row that the request holds.
    """

    def __init__(self, *, first):
        self.result = ""
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
                self._write_more_rows()
                self._holds.set()
                # PostgreSQL aborts the transaction that waited longer: make it the request.
                sleep(0.3)
                users().update(is_active=True)
            self.result = "committed"
        except OperationalError as wrong:
            self.result = str(wrong)
        finally:
            connection.close()

    def _write_more_rows(self):
        """MariaDB aborts the transaction with fewer changes."""
        tokens = (OneTimeToken(purpose="host", expires_at=timezone.now()) for _ in range(100))
        OneTimeToken.objects.bulk_create(tokens)


def users():
    return get_user_model().objects.filter(pk=the_user().pk)


@pytest.fixture
def change_password(api, transactional_db):
    """Change a password while a transaction of the host locks the rows in the opposite order."""
    token = api.sign_up()["access_token"]

    def change():
        new = {"old_password": PASSWORD, "new_password": NEW}
        held = HostTransaction(first=lambda: Session.objects.update(user_agent="of the host"))
        with held as other, connection.execute_wrapper(other.meet):
            answer = api.request("PUT", "change-password", new, token=token)
        assert other.result == "committed"
        return answer

    return change


def test_request_aborted_by_a_deadlock_is_retried(change_password, api):
    assert change_password().status == 200
    assert api.log_in(password=NEW)


def test_retry_after_a_deadlock_is_logged(change_password, caplog):
    change_password()

    assert caplog.messages[0].startswith("Retrying a transaction")


def test_request_that_meets_too_many_deadlocks_is_503(change_password, api, monkeypatch):
    monkeypatch.setattr(databases, "_ATTEMPTS", 1)

    assert change_password().error == (503, "SERVICE_UNAVAILABLE")
    assert api.log_in(password=PASSWORD)


@pytest.fixture
def _write_user_first():
    """A receiver of the host writes the user's row before a login does, so that another transaction
    can act between this statement and those of the login, which are one on PostgreSQL."""

    def write(instance, **_):
        get_user_model().objects.filter(pk=instance.pk).update(is_active=True)

    pre_save.connect(write, sender=get_user_model())
    yield
    pre_save.disconnect(write, sender=get_user_model())


@pytest.mark.usefixtures("_write_user_first")
def test_correct_password_aborted_by_a_deadlock_is_not_counted(api, transactional_db):
    api.sign_up()
    api.log_in()  # so that there is a row to hold
    held = HostTransaction(first=lambda: AttemptCounter.objects.update(strikes=0))
    with held as other, connection.execute_wrapper(other.meet):
        assert api.log_in(password=PASSWORD)

    assert other.result == "committed"
    assert AttemptCounter.objects.get().count == 0
