"""PostgreSQL plans each list of users for its filters and keeps no generic plan."""

import pytest

from authservice.core.models import Account
from tests.support.prepared import only_postgresql, prepared

pytestmark = [pytest.mark.django_db, only_postgresql]


@pytest.mark.parametrize("filters", [{}, {"query": "a"}, {"is_super_admin": "true"}], ids=str)
def test_list_is_planned_for_each_request(root, filters):
    def ask():
        assert root.users(limit=1, **filters).status == 200

    lists = [sql for sql in prepared(Account._meta.db_table, ask) if "ORDER BY" in sql]

    assert lists == []
