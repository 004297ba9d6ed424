"""Each entry costs one statement more than its deed would without it, and nothing else does."""

import pytest

from tests.audit.inside.test_deeds import DEEDS
from tests.recovery.statements import statements

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("deed", [deed for deed in DEEDS if "audit" not in deed.route], ids=str)
def test_an_entry_costs_one_statement(world, deed):
    said = statements(deed.prepare(world))

    about = [sql for sql in said if "authservice_audit_entry" in sql]
    assert len(about) == len(deed.log) - (len(deed.log) if "forgot" in deed.route else 0)
    assert all(sql.startswith("INSERT") for sql in about)
