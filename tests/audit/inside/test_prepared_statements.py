"""Lists are planned for their parameters: a generic plan would scan an index for rare values."""

import pytest

from authservice.audit import retention
from authservice.audit.models import Entry
from authservice.core.models import Session
from tests.support.prepared import only_postgresql, prepared

pytestmark = [pytest.mark.django_db, only_postgresql]
TABLE = Entry._meta.db_table


@pytest.mark.parametrize(
    "path", ["me/audit", "me/audit/security", "admin/audit", "admin/audit?action=auth&actor_id=1"]
)
def test_list_is_not_a_prepared_statement(world, ask, path):
    assert prepared(TABLE, lambda: ask(path)) == []


def test_cleanup_is_not_a_prepared_statement(world):
    assert prepared(TABLE, lambda: retention.clean(batch_size=1)) == []


def test_list_in_django_admin_is_not_a_prepared_statement(superuser):
    assert prepared(TABLE, lambda: superuser.get("/admin/authservice_audit/entry/?q=1")) == []


def test_other_statements_are_prepared(world, ask):
    assert prepared(Session._meta.db_table, lambda: world.api.get("me", token=world.token))
    assert prepared(Session._meta.db_table, lambda: ask("me/audit"))
