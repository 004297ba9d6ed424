"""Every way to set a password locks the row of the user before it writes; also tested on SQLite.
A reset clears the counters of attempts after that, in spite of a deadlock."""

import re

import pytest
from django.contrib.auth import get_user_model
from django.db import connections

from authservice.core.credentials.attempt_counter import PASSWORD as BUDGET
from authservice.kernel import databases
from tests.support.client import PASSWORD
from tests.support.deadlocks import one_deadlock
from tests.support.flows import NEW

pytestmark = pytest.mark.django_db
LOCK = re.compile(r" FOR (?:NO KEY )?UPDATE")


@pytest.fixture
def locking(monkeypatch):
    """`locking(call)` lists the statements that lock or change rows of users, in order.

    SQLite has no row locks. Here Django treats it as a database that has them, and the clauses
    that SQLite does not know are removed from the statements.
    """
    connection = connections[databases.primary()]
    monkeypatch.setattr(connection.features, "has_select_for_update", True)

    users = connection.ops.quote_name(get_user_model()._meta.db_table)
    seen = []

    def record(execute, sql, params, many, context):
        if users in sql and (LOCK.search(sql) or sql.startswith("UPDATE")):
            seen.append(sql)
        known = LOCK.sub("", sql) if connection.vendor == "sqlite" else sql
        return execute(known, params, many, context)

    def locking(call):
        with connection.execute_wrapper(record):
            assert call().status == 200
        return seen

    return locking


def locks_before_it_writes(statements):
    first, *rest = statements
    return bool(LOCK.search(first)) and any(text.startswith("UPDATE") for text in rest)


def test_change_of_the_password_locks_the_user(api, ann, locking):
    body = {"old_password": PASSWORD, "new_password": NEW}

    made = locking(lambda: api.request("PUT", "change-password", body, token=ann["access_token"]))

    assert locks_before_it_writes(made)


def test_reset_by_link_locks_the_user(flows, ann, locking):
    token = flows.reset_token()

    assert locks_before_it_writes(locking(lambda: flows.reset(token)))


def test_reset_by_code_locks_the_user(flows, proven, locking):
    code = flows.reset_code()

    assert locks_before_it_writes(locking(lambda: flows.reset_by_code(code)))


@pytest.mark.django_db(transaction=True)
def test_reset_clears_the_attempts_of_an_attacker_in_spite_of_a_deadlock(api, flows, ann):
    for _ in range(BUDGET.limit):
        api.post("login", email="ann@example.com", password="a password of an attacker")
    assert api.post("login", email="ann@example.com", password=PASSWORD).status == 429
    token = flows.reset_token()

    with one_deadlock("DELETE") as aborted:
        assert flows.reset(token).status == 200

    assert "attemptcounter" in aborted[0]
    assert api.post("login", email="ann@example.com", password=NEW).status == 200
