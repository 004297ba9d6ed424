"""No list of entries reads the whole table, with any sort order and filter."""

from itertools import product
from urllib.parse import parse_qsl

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from authservice.audit import queries
from authservice.audit.models import Entry
from authservice.audit.queries import EntryFilter
from authservice.audit.views import SORT_FIELDS
from authservice.audit.writer import CHANGES, LOGINS, SECURITY
from authservice.kernel.http.listing import page
from tests.benchmarks import audit_seed

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="reads PostgreSQL's plans"),
]

ROWS = 300_000
SORTED = list(product(SORT_FIELDS, ("asc", "desc")))
NARROWED = {
    "nothing": EntryFilter(),
    "a common action": EntryFilter(action="auth.login.success"),
    "a rare action": EntryFilter(action="org.created"),
    "a common prefix": EntryFilter(action="auth."),
    "a rare prefix": EntryFilter(action="org.invitation"),
    "a common severity": EntryFilter(severity="info"),
    "a severity of no entry": EntryFilter(severity="critical"),
    "an actor of many": EntryFilter(actor_id=audit_seed.HEAVY),
    "an actor of few": EntryFilter(actor_id="77"),
    "a target": EntryFilter(target_id=audit_seed.TARGET),
    "an actor and an action": EntryFilter(actor_id=audit_seed.HEAVY, action="user"),
    "an actor and a severity": EntryFilter(actor_id=audit_seed.HEAVY, severity="critical"),
}
TOPICS = ("", LOGINS, CHANGES, SECURITY)


@pytest.fixture(scope="module")
def filled(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock():
        audit_seed.fill(ROWS)
        yield
        Entry.objects.all().delete()


def plans(read, sort_field, sort_dir):
    """The query plan of each statement of a list."""
    wanted = page(dict(parse_qsl(f"sort_field={sort_field}&sort_dir={sort_dir}")), SORT_FIELDS)
    with CaptureQueriesContext(connection) as captured:
        read(wanted)
    assert captured.captured_queries
    for query in captured.captured_queries:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS) {query['sql']}")
            yield "\n".join(row[0] for row in cursor.fetchall())


@pytest.mark.parametrize("narrowed", NARROWED)
@pytest.mark.parametrize(("sort_field", "sort_dir"), SORTED)
def test_list_of_all_entries_never_scans_the_table(filled, narrowed, sort_field, sort_dir):
    def read(wanted):
        return queries.page_of(wanted, NARROWED[narrowed])

    for plan in plans(read, sort_field, sort_dir):
        assert "Seq Scan" not in plan


@pytest.mark.parametrize("user", [audit_seed.HEAVY, audit_seed.TARGET, "77", "nobody"])
@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize(("sort_field", "sort_dir"), SORTED)
def test_list_of_a_user_never_scans_the_table(filled, user, topic, sort_field, sort_dir):
    def read(wanted):
        return queries.page_of_user(user, wanted, EntryFilter(category=topic))

    for plan in plans(read, sort_field, sort_dir):
        assert "Seq Scan" not in plan
