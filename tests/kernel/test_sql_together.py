"""Statements that write several tables together, such as those of a login."""

from contextlib import contextmanager
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from authservice.core.models import Account, AttemptCounter, Session
from authservice.core.sessions import sessions
from authservice.core.users import lookup
from authservice.kernel.client import Client
from authservice.kernel.sql import Bound, Update, param, run_together
from tests.support.people import make_user

pytestmark = pytest.mark.django_db

MOMENT = datetime(2030, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
USING = "default"
COUNT = Update(
    lambda: AttemptCounter.objects.filter(key=param("key", AttemptCounter)),
    lambda: {"count": F("count") + 1},
)
NAME = Update(
    lambda: Account.objects.filter(pk=param("key", Account, "user")), lambda: {"name": "Ann"}
)


@pytest.fixture
def session():
    person = lookup.get_person(make_user())
    return sessions.begin(person, Client(), amr="pwd", device_id=uuid4())


@pytest.fixture
def before(session):
    """Changes of two other tables."""
    AttemptCounter.objects.create(key="k", ends_at=MOMENT)
    return [NAME.bound(USING, key=session.user_id), COUNT.bound(USING, key="k")]


def test_statements_run_together_write_all_rows(session, before):
    run_together(*before, sessions.insertion(session))

    assert Session.objects.get() == session
    assert AttemptCounter.objects.get().count == 1
    assert Account.objects.get().name == "Ann"


def test_statements_run_together_are_one_on_postgresql(session, before):
    with CaptureQueriesContext(connection) as captured:
        run_together(*before, sessions.insertion(session))

    assert len(captured) == (1 if connection.vendor == "postgresql" else 3)


def test_statements_run_together_keep_their_order(session, before):
    """Two requests that lock rows in opposite orders would deadlock."""
    with CaptureQueriesContext(connection) as captured:
        run_together(*before, sessions.insertion(session))

    text = " ".join(query["sql"] for query in captured.captured_queries)
    places = [text.index("core_account"), text.index("core_attempt")]
    # The statements in WITH run from the last one to the first.
    assert places == sorted(places, reverse=connection.vendor == "postgresql")


def test_statements_of_another_database_run_separately(session, before):
    elsewhere = OtherDatabase()

    run_together(*before, Bound(elsewhere, "UPDATE it", [1]), sessions.insertion(session))

    assert elsewhere.ran == [("UPDATE it", [1])]
    assert AttemptCounter.objects.get().count == 1
    assert Session.objects.count() == 1


class OtherDatabase:
    """The part of a connection to another database that one statement needs."""

    alias = vendor = "elsewhere"
    connection = None
    rowcount = 1

    def __init__(self):
        self.ran = []

    @contextmanager
    def cursor(self):
        yield self

    def execute(self, sql, params):
        self.ran.append((sql, params))
