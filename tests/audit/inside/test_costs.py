"""Each entry costs one statement more than its deed would without it, and nothing else does."""

import pytest

from tests.audit.inside.test_deeds import DEEDS
from tests.recovery.statements import statements

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("deed", [deed for deed in DEEDS if "audit" not in deed.route], ids=str)
def test_an_entry_costs_one_statement(world, deed):
    act = deed.prepare(world)

    def whole():
        act()
        if deed.delivered:
            world.deliver()

    about = [sql for sql in statements(whole) if "authservice_audit_entry" in sql]

    assert len(about) == len(deed.log)
    assert all(sql.startswith("INSERT") for sql in about)
