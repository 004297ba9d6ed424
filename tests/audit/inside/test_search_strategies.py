"""The number of matching entries selects the search strategy and never changes the page."""

from functools import partial
from itertools import product

import pytest

from authservice.audit import queries
from authservice.audit.queries import EntryFilter
from authservice.audit.views import SORT_FIELDS
from authservice.audit.writer import CHANGES, LOGINS, SECURITY
from authservice.kernel.actions import ACTIONS
from authservice.kernel.interfaces import Page
from tests.audit.stored import store_all, unsaved
from tests.support.statements import statements

pytestmark = pytest.mark.django_db

NARROWED = {
    "category": {"category": SECURITY},
    "action": {"action": "auth.logout"},
    "prefix": {"action": "auth"},
    "severity": {"severity": "warning"},
    "severity and prefix": {"severity": "warning", "action": "auth"},
    "severity that the action cannot have": {"severity": "critical", "action": "auth.logout"},
    "target": {"target_id": "bob"},
    "target and prefix": {"target_id": "bob", "action": "user"},
    "actor and prefix": {"actor_id": "ann", "action": "user"},
}
MANY, FEW = 0, 1_000


@pytest.fixture
def filled(ann, bob):
    """Each action by Ann, to Bob and by Bob to Ann."""
    pairs = ((ann, None), (ann, bob), (bob, ann))
    store_all([unsaved(action, *pair) for action in ACTIONS for pair in pairs])
    return {"ann": str(ann.pk), "bob": str(bob.pk)}


def narrowed(filled, name):
    given = NARROWED[name]
    return EntryFilter(**{key: filled.get(value, value) for key, value in given.items()})


def pages(read, monkeypatch, most, field, direction):
    """The ids and totals of three pages, the last beyond the end."""
    monkeypatch.setattr(queries, "FEW", most)
    found = (read(Page(offset, 5, field, direction)) for offset in (0, 5, 10_000))
    return [([row.pk for row in rows], total) for rows, total in found]


@pytest.mark.parametrize("whose", ["ann", ""])
@pytest.mark.parametrize("name", NARROWED)
def test_both_strategies_return_the_same_pages(filled, monkeypatch, whose, name):
    def read(page):
        wanted = narrowed(filled, name)
        return (
            queries.page_of_user(filled[whose], page, wanted)
            if whose
            else queries.page_of(page, wanted)
        )

    for order in product(SORT_FIELDS, ("asc", "desc")):
        few = pages(read, monkeypatch, FEW, *order)

        assert few == pages(read, monkeypatch, MANY, *order), order


def test_severity_that_an_action_cannot_have_finds_nothing(filled):
    wanted = narrowed(filled, "severity that the action cannot have")

    assert queries.page_of(Page(0, 5, "created_at", "desc"), wanted) == ([], 0)


@pytest.mark.parametrize("name", NARROWED)
@pytest.mark.parametrize("most", [MANY, FEW])
def test_either_strategy_costs_at_most_three_statements(filled, monkeypatch, name, most):
    monkeypatch.setattr(queries, "FEW", most)

    def read(field):
        queries.page_of_user(filled["ann"], Page(0, 5, field, "desc"), narrowed(filled, name))

    # The third statement has authenticated the request.
    costs = {field: len(statements(partial(read, field))) for field in SORT_FIELDS}
    assert max(costs.values()) <= 2, costs


@pytest.mark.parametrize(
    ("category", "field", "sparse"),
    [(LOGINS, "created_at", False), (CHANGES, "action", True), ("", "action", False)],
)
def test_only_filter_without_index_is_searched_unordered(filled, category, field, sparse):
    def read():
        queries.page_of_user(
            filled["ann"], Page(0, 5, field, "desc"), EntryFilter(category=category)
        )

    assert any("COALESCE" in sql for sql in statements(read)) == sparse
