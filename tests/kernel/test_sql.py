"""Compiled statements return what the querysets they were built from would return."""

import uuid
from copy import copy
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.db.models import CharField, F, TextField
from django.db.models.expressions import Col
from django.test.utils import CaptureQueriesContext

from authservice.core.models import Account, AttemptCounter, OneTimeToken, Session
from authservice.kernel import sql
from authservice.kernel.sql import Insert, Select, Update, param
from tests.support.people import make_user

pytestmark = pytest.mark.django_db

MOMENT = datetime(2030, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
USING = "default"


@pytest.fixture
def row():
    return Session(
        user=make_user(),
        seed="00" * 16,
        password_fingerprint="m",
        token_version=3,
        amr="pwd",
        auth_time=MOMENT,
        organization_id=uuid.UUID(int=7),
        created_at=MOMENT,
        refreshed_at=MOMENT,
        last_used_at=MOMENT,
        idle_expires_at=MOMENT,
        expires_at=MOMENT,
    )


@pytest.fixture
def stored(row):
    row.save()
    return row


def test_select_returns_a_row_as_the_orm_does(stored):
    by_id = Select(lambda: Session.objects.filter(pk=param("id", Session)).values_list())

    assert by_id.first(USING, id=stored.pk) == Session.objects.values_list().get()


def test_select_keeps_uuids_and_times_with_their_microseconds(stored):
    by_id = Select(
        lambda: Session.objects.filter(pk=param("id", Session)).values_list(
            "id", "organization_id", "device_id", "auth_time", "ended_at"
        )
    )

    row = by_id.first(USING, id=stored.pk)

    assert row == (stored.pk, uuid.UUID(int=7), None, MOMENT, None)


def test_select_returns_booleans(stored):
    field = Account._meta.get_field("active")
    active = Select(
        lambda: Account.objects.filter(active=param("active", Account)).values_list(field.name)
    )

    (value,) = active.first(USING, active=True)

    assert value is True
    assert active.first(USING, active=False) is None


def test_select_returns_booleans_of_joined_rows(stored):
    joined = Select(lambda: Session.objects.values_list("user__is_active", "user__pk"))

    assert joined.first(USING) == (True, stored.user.pk)


def test_select_parses_json():
    made = OneTimeToken.objects.create(purpose="test", payload={"a": [1, None]}, expires_at=MOMENT)
    payload = Select(
        lambda: OneTimeToken.objects.filter(pk=param("id", OneTimeToken)).values_list("payload")
    )

    assert payload.first(USING, id=made.pk) == ({"a": [1, None]},)


def test_select_without_a_row_returns_none(db):
    by_id = Select(lambda: Session.objects.filter(pk=param("id", Session)).values_list("id"))

    assert by_id.first(USING, id=uuid.uuid4()) is None
    assert by_id.all(USING, id=uuid.uuid4()) == []


def test_select_all_returns_every_row(db):
    users = {make_user(f"ann{n}@example.com").pk for n in range(3)}
    keys = Select(lambda: get_user_model().objects.values_list("pk"))

    assert {pk for (pk,) in keys.all(USING)} == users


@pytest.mark.parametrize("hostile", ["' OR '1'='1", "%s", "%", "\\", "'; --", "\u00e9"])
def test_select_parameter_is_never_part_of_the_statement(stored, hostile):
    by_mark = Select(
        lambda: Session.objects.filter(
            password_fingerprint=param("password_fingerprint", Session)
        ).values_list("password_fingerprint")
    )
    Session.objects.update(password_fingerprint=hostile)

    assert by_mark.first(USING, password_fingerprint=hostile) == (hostile,)
    assert by_mark.first(USING, password_fingerprint="m") is None


def test_select_combines_constants_of_the_queryset_with_parameters(stored):
    live = Select(
        lambda: Session.objects.filter(
            amr="pwd", pk=param("id", Session), ended_at=None, token_version=3
        ).values_list("amr")
    )

    assert live.first(USING, id=stored.pk) == ("pwd",)


def test_update_changes_and_counts_the_matching_rows(stored):
    end = Update(
        lambda: Session.objects.filter(pk=param("id", Session), ended_at=None),
        lambda: {"ended_at": param("now", Session, "ended_at"), "counter": F("counter") + 1},
    )

    assert [end.run(USING, id=stored.pk, now=MOMENT) for _ in range(2)] == [1, 0]
    stored.refresh_from_db()
    assert (stored.ended_at, stored.counter) == (MOMENT, 1)


def test_update_counts_matching_rows_that_do_not_change(stored):
    same = Update(
        lambda: Session.objects.filter(pk=param("id", Session)),
        lambda: {"amr": param("amr", Session)},
    )

    assert same.run(USING, id=stored.pk, amr="pwd") == 1


def test_update_compares_times_exactly(stored):
    unexpired = Update(
        lambda: Session.objects.filter(expires_at__gt=param("now", Session, "expires_at")),
        lambda: {"counter": F("counter") + 1},
    )
    instant = timedelta(microseconds=1)

    assert unexpired.run(USING, now=MOMENT) == 0
    assert unexpired.run(USING, now=MOMENT - instant) == 1


def test_insert_stores_the_row_as_save_does(row):
    Insert(lambda: Session).run(USING, row)

    assert Session.objects.get() == row
    names = [field.attname for field in Session._meta.concrete_fields]
    assert Session.objects.values(*names).get() == {name: getattr(row, name) for name in names}


def test_insert_stores_several_rows_in_one_statement(row, django_assert_num_queries):
    second = copy(row)
    second.id = uuid.UUID(int=8)

    with django_assert_num_queries(1):
        Insert(lambda: Session).run(USING, row, second)

    assert set(Session.objects.all()) == {row, second}


def test_inserted_row_is_saved_by_an_update_afterwards(row):
    Insert(lambda: Session).run(USING, row)
    row.counter = 5
    row.save()

    assert Session.objects.get().counter == 5


def test_statement_is_compiled_once(stored):
    built = []

    def build():
        built.append(True)
        return Session.objects.filter(pk=param("id", Session)).values_list("id")

    by_id = Select(build)
    for _ in range(3):
        by_id.first(USING, id=stored.pk)

    assert built == [True]


def test_statement_is_compiled_again_after_a_changed_setting(stored, settings):
    built = []

    def build():
        built.append(True)
        return Session.objects.values_list("id")

    every = Select(build)
    every.first(USING)
    settings.USE_TZ = not settings.USE_TZ
    every.first(USING)

    assert built == [True, True]


def test_select_runs_one_statement(stored):
    every = Select(lambda: Session.objects.values_list("id"))

    with CaptureQueriesContext(connection) as captured:
        every.first(USING)

    assert len(captured) == 1


def test_attempt_counter_key_is_no_reserved_word_of_the_database(db):
    AttemptCounter.objects.create(key="k", ends_at=MOMENT)
    by_key = Select(
        lambda: AttemptCounter.objects.filter(key=param("key", AttemptCounter)).values_list("key")
    )

    assert by_key.first(USING, key="k") == ("k",)


def unions():
    """The statements of the package that join rows of several tables."""
    for statement in sql._statements:
        if isinstance(statement, Select) and statement._build.__module__ != __name__:
            query = statement._build().query
            if query.combinator:
                yield query


def texts(query):
    """The columns whose texts the query answers, by position; None for all other values."""
    compiler = query.get_compiler(USING)
    compiler.setup_query()
    for expression, _, _ in compiler.select:
        is_text = isinstance(expression, Col) and isinstance(
            expression.target, CharField | TextField
        )
        yield expression.target if is_text else None


def test_unions_put_no_text_of_the_project_below_another_text(api):
    """The tables of the project may have another collation than ours. MySQL and MariaDB refuse to
    join such texts, even two columns of one name: a text of the project is joined with itself."""
    # The statement by a natural key is compiled by its first use.
    assert api.post("login", username="nobody", password="x").status == 401
    found = list(unions())
    for query in found:
        for places in zip(*map(texts, query.combined_queries), strict=True):
            columns = {column for column in places if column is not None}
            ours = {column.model.__module__.startswith("authservice.") for column in columns}
            assert ours != {False} or len(columns) == 1, columns
            assert ours != {True, False}, columns

    assert len(found) >= 2
