"""The check of the user model names the unique constraints that refuse the second sign-up.

Each test adds a constraint to the table, signs two users up, and compares the answers with what the
check says.
"""

from contextlib import contextmanager

import pytest
from django.contrib.auth import get_user_model
from django.core.checks import run_checks
from django.db import connection
from django.db.models import Case, CharField, Deferrable, F, Q, UniqueConstraint, Value, When
from django.db.models.functions import Cast, Coalesce, Concat, Lower, NullIf

from tests.support.client import PASSWORD, Api

pytestmark = pytest.mark.django_db(transaction=True)

User = get_user_model()
EMPTY = Value("")


def of(*names, **options):
    return UniqueConstraint(fields=names, name="of_test", **options)


def by(*expressions, **options):
    return UniqueConstraint(*expressions, name="of_test", **options)


REFUSING = {
    "text": of("code"),
    "default": of("tenant"),
    "default of the database": of("place"),
    "two columns": of("tenant", "code"),
    "three columns": of("tenant", "code", "place"),
    "generated column": of("tenant", "upper_code"),
    "function": by(Lower("code")),
    "function and column": by(Lower("code"), "tenant"),
    "function that replaces NULL": by(Coalesce("nickname", EMPTY)),
    "function of a function": by(Lower(Coalesce("nickname", "code"))),
    "texts that are joined": by(Concat("code", "nickname")),
    "column in reverse order": by(F("tenant").desc(), Lower("code")),
    "cast": by(Cast("tenant", CharField(max_length=9))),
    "equal NULLs": of("nickname", nulls_distinct=False),
    "equal NULLs and a column": of("tenant", "alias", nulls_distinct=False),
    "equal NULLs of a function": by(Lower("nickname"), nulls_distinct=False),
    "equal NULLs of any function": by(NullIf("code", EMPTY), nulls_distinct=False),
    "equal NULLs of a generated column": of("upper_nickname", nulls_distinct=False),
    "distinct NULLs and values": of("tenant", "code", nulls_distinct=True),
    "deferred": of("tenant", "code", deferrable=Deferrable.DEFERRED),
    "deferrable": of("tenant", "code", deferrable=Deferrable.IMMEDIATE),
    "further column in the index": of("code", include=["nickname"]),
}
ACCEPTING = {
    "NULL": of("nickname"),
    "NULL as default": of("alias"),
    "NULL and a value": of("tenant", "nickname"),
    "NULL and a value, deferred": of("tenant", "nickname", deferrable=Deferrable.DEFERRED),
    "distinct NULLs": of("tenant", "nickname", nulls_distinct=True),
    "function for the default": of("number"),
    "function of the database": of("made_at"),
    "time of the row": of("tenant", "seen_at"),
    "username": of("tenant", "username"),
    "address": of("tenant", "email"),
    "key": of("tenant", "id"),
    "hash": of("tenant", "password"),
    "username and equal NULLs": of("nickname", "username", nulls_distinct=False),
    "generated of the username": of("upper_username"),
    "generated of NULL": of("tenant", "upper_nickname"),
    "function of NULL": by(Lower("nickname")),
    "function of NULL and a value": by(Lower("nickname"), "tenant"),
    "function of the address": by(Lower("email"), "tenant"),
    "function that makes NULL": by(NullIf("code", EMPTY)),
    "function that replaces NULL by the username": by(Coalesce("nickname", "username")),
    "case that makes NULL": by(Case(When(code="owl", then="code"))),
    "case of the username": by(
        Case(When(username="ann", then="tenant")), "code", nulls_distinct=False
    ),
}
# The check cannot know what the database makes of these.
DOUBTFUL = {
    "condition": of("tenant", "code", condition=Q(tenant=1)),
    "condition of the function": by(Lower("code"), condition=Q(nickname=None)),
    "case": by(Case(When(code="", then="tenant"))),
    "arithmetic": by(F("tenant") + 1, "code"),
}


@contextmanager
def constrained(constraint):
    """The table has the constraint, if the database supports it."""
    editor = connection.schema_editor()
    statements = constraint.create_sql(User, editor), constraint.remove_sql(User, editor)
    if statements[0]:
        editor.execute(statements[0], params=None)
    try:
        yield
    finally:
        if statements[0]:
            editor.execute(statements[1], params=None)


def is_second_refused():
    """Two sign-ups with all that clients may send."""
    api = Api(raising=False)
    for name in ("ann", "bob"):
        answer = api.post("signup", email=f"{name}@example.com", username=name, password=PASSWORD)
        assert answer.status == 201 or (name, answer.error) == ("bob", (409, "CONFLICT")), (
            answer.body
        )
    return answer.status == 409


def texts():
    return [
        warning.msg
        for warning in run_checks(tags=["authservice"])
        if warning.id == "authservice.W083"
    ]


def cases(group, *more):
    return [pytest.param(case, *more, id=name) for name, case in group.items()]


def test_model_without_such_a_constraint_is_not_named():
    assert texts() == []
    assert not is_second_refused()


@pytest.mark.parametrize(
    ("constraint", "refuses"), [*cases(REFUSING, True), *cases(ACCEPTING, False)]
)
def test_constraint_is_named_if_it_refuses_the_second_sign_up(monkeypatch, constraint, refuses):
    monkeypatch.setattr(User._meta, "constraints", [constraint])

    with constrained(constraint):
        refused = is_second_refused()

    assert bool(texts()) is refused
    if connection.vendor == "postgresql":  # others lack some constraints
        assert refused is refuses


@pytest.mark.parametrize("constraint", cases(DOUBTFUL))
def test_constraint_that_only_the_database_can_evaluate_is_not_named(monkeypatch, constraint):
    monkeypatch.setattr(User._meta, "constraints", [constraint])

    with constrained(constraint):
        refused = is_second_refused()

    assert refused is (connection.vendor != "mysql")  # which has none of them
    assert texts() == []


@pytest.mark.parametrize("names", [("tenant", "code"), ("tenant", "nickname"), ("code", "email")])
def test_columns_that_are_unique_together_are_named_if_they_refuse(monkeypatch, names):
    monkeypatch.setattr(User._meta, "unique_together", (names,))

    with constrained(of(*names)):
        refused = is_second_refused()

    assert bool(texts()) is refused


def test_text_names_the_column_or_the_constraint(monkeypatch):
    constraints = [of("code"), of("tenant", "code")]
    monkeypatch.setattr(User._meta, "constraints", constraints)
    monkeypatch.setattr(User._meta, "unique_together", (("tenant", "place"),))
    rule = "is unique and would have the same value for each new user, and no sign-up fills it."

    assert set(texts()) == {
        f"people.ColumnsUser.code {rule}",
        f"people.ColumnsUser: constraint of_test {rule}",
        f"people.ColumnsUser: unique_together of tenant, place {rule}",
    }
