"""Functions that must run in a transaction, or outside of all, are checked in every test."""

import pytest
from django.db import transaction

from authservice.core.recovery import recent_proof, takeover
from authservice.kernel import databases
from authservice.kernel.client import Client
from authservice.kernel.databases import CHECK_VARIABLE, WrongTransaction
from authservice.kernel.secret import Secret


def rule():
    """A function that gets a duty."""
    return "done"


def test_decorated_function_is_the_function_itself_in_production(monkeypatch):
    monkeypatch.delenv(CHECK_VARIABLE)

    assert databases.inside_transaction(rule) is rule
    assert databases.outside_transactions(rule) is rule


@pytest.mark.parametrize(
    "wrapped",
    [
        pytest.param(False, marks=pytest.mark.django_db(transaction=True), id="bare"),
        pytest.param(True, marks=pytest.mark.django_db, id="in the transaction of a test case"),
    ],
)
def test_decorator_ignores_the_transaction_of_a_test_case(wrapped):
    assert transaction.get_connection().in_atomic_block is wrapped
    assert databases.outside_transactions(rule)() == "done"
    with pytest.raises(WrongTransaction, match=r"rule must be called in a transaction\."):
        databases.inside_transaction(rule)()

    with transaction.atomic():
        assert databases.inside_transaction(rule)() == "done"
        with pytest.raises(WrongTransaction, match=r"rule must be called outside of transactions"):
            databases.outside_transactions(rule)()


@pytest.mark.django_db
def test_rules_of_the_service_check_their_transaction():
    with pytest.raises(WrongTransaction, match="record_recovery"):
        takeover.record_recovery(None)
    with transaction.atomic(), pytest.raises(WrongTransaction, match="check_password"):
        recent_proof.check_password(None, Secret("x"), Client(), method="password")
