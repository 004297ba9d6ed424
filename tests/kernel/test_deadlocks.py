"""Which ends of a transaction are tried again, and how often."""

import pytest
from django.db import OperationalError, transaction
from psycopg import errors as postgresql

from authservice.kernel import retries


def mariadb(number=1213):
    return OperationalError(number, "as MariaDB says it")


def wrapped(cause):
    """As Django wraps what the driver raised."""
    error = OperationalError(str(cause))
    error.__cause__ = cause
    return error


DEADLOCKS = [
    pytest.param(mariadb(), id="MariaDB"),
    pytest.param(wrapped(postgresql.DeadlockDetected()), id="PostgreSQL"),
    pytest.param(wrapped(postgresql.SerializationFailure()), id="serializable"),
]
OTHERS = [
    pytest.param(mariadb(1205), id="a lock that was waited for in vain"),
    pytest.param(wrapped(postgresql.AdminShutdown()), id="a server that stops"),
    pytest.param(OperationalError("database is locked"), id="SQLite"),
    pytest.param(OperationalError(), id="nothing said"),
]


class Deed:
    """Fails with each of the errors in turn, then succeeds."""

    def __init__(self, *errors):
        self.left = list(errors)

    def __call__(self):
        if self.left:
            raise self.left.pop(0)
        return "done"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("error", DEADLOCKS)
def test_a_deadlock_is_outlasted(error):
    assert retries.retry_on_deadlock(Deed(error)) == "done"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("error", OTHERS)
def test_nothing_else_is(error):
    with pytest.raises(OperationalError) as raised:
        retries.retry_on_deadlock(Deed(error))

    assert raised.value is error


@pytest.mark.django_db(transaction=True)
def test_three_in_a_row_are_outlasted():
    assert retries.retry_on_deadlock(Deed(*[mariadb()] * 3)) == "done"


@pytest.mark.django_db(transaction=True)
def test_four_in_a_row_are_not():
    with pytest.raises(OperationalError):
        retries.retry_on_deadlock(Deed(*[mariadb()] * 4))


@pytest.mark.django_db(transaction=True)
def test_a_transaction_around_the_deed_is_lost_with_it():
    with transaction.atomic(), pytest.raises(OperationalError):
        retries.retry_on_deadlock(Deed(mariadb()))
