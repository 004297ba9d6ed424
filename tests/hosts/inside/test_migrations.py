"""The tables can be taken out of a project and put back in, with users in it."""

import pytest
from django.core.management import call_command
from django.db import connection

from authservice.core.models import Account
from tests.client import PASSWORD
from tests.hosts.inside.users import natural, only, stranger


@pytest.fixture
def bare(transactional_db):
    """The project after our tables have left it."""
    stranger().save()
    call_command("migrate", "authservice_core", "zero", verbosity=0)
    yield
    call_command("migrate", verbosity=0)


def tables():
    return {name for name in connection.introspection.table_names() if "authservice" in name}


@pytest.mark.usefixtures("bare")
def test_migrating_back_leaves_no_table():
    assert tables() == set()


@pytest.mark.usefixtures("bare")
def test_migrating_forth_again_serves_the_users_who_stayed(api):
    call_command("migrate", verbosity=0)
    call_command("authservice_sync_accounts", verbosity=0)

    assert Account.objects.count() == 1
    assert api.post("login", password=PASSWORD, **natural(only())).status == 200
