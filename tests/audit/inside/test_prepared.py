"""A list is planned for what it is narrowed to: the rare would be looked for everywhere else."""

import pytest

from authservice.audit import retention
from authservice.audit.models import Entry
from authservice.core.models import Session
from tests.prepared import kept, only_there

pytestmark = [pytest.mark.django_db, only_there]
TABLE = Entry._meta.db_table


@pytest.mark.parametrize(
    "path", ["me/audit", "me/audit/security", "admin/audit", "admin/audit?action=auth&actor_id=1"]
)
def test_no_plan_of_a_list_is_kept(world, ask, path):
    assert kept(TABLE, lambda: ask(path)) == []


def test_no_plan_of_a_cleanup_is_kept(world):
    assert kept(TABLE, lambda: retention.clean(batch_size=1)) == []


def test_no_plan_of_the_page_of_staff_is_kept(boss):
    assert kept(TABLE, lambda: boss.get("/admin/authservice_audit/entry/?q=1")) == []


def test_plans_of_other_statements_are_kept(world, ask):
    assert kept(Session._meta.db_table, lambda: world.api.get("me", token=world.token))
    assert kept(Session._meta.db_table, lambda: ask("me/audit"))
