"""A list of users is planned for what it is narrowed to."""

import pytest

from authservice.core.models import Account
from tests.prepared import kept, only_there

pytestmark = [pytest.mark.django_db, only_there]


@pytest.mark.parametrize("narrowed", [{}, {"query": "a"}, {"is_super_admin": "true"}], ids=str)
def test_no_plan_of_a_list_is_kept(root, narrowed):
    def ask():
        assert root.users(limit=1, **narrowed).status == 200

    lists = [sql for sql in kept(Account._meta.db_table, ask) if "ORDER BY" in sql]

    assert lists == []
