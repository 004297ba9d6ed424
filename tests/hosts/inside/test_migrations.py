"""The tables of each module can be taken out of a project and put back in, with people in it."""

import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import connections

from authservice.core import directory
from authservice.core.models import Account
from tests.client import PASSWORD
from tests.hosts.inside.rows import fill, labels
from tests.hosts.inside.users import natural, only, stranger

pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")


def migrate(*where):
    call_command("migrate", *where, database=directory.database(), verbosity=0)


@pytest.fixture(params=labels())
def gone(request):
    """The label of a module whose tables have left the project, with rows in every one."""
    stranger().save()
    fill()
    migrate(request.param, "zero")
    yield request.param
    migrate()


def tables(label):
    names = connections[directory.database()].introspection.table_names()
    return {name for name in names if name.startswith(f"{label}_")}


def test_migrating_back_leaves_no_table(gone):
    assert tables(gone) == set()


def test_nobody_goes_with_them(gone):
    assert get_user_model()._base_manager.using(directory.database()).count() == 1


def test_migrating_forth_again_serves_the_users_who_stayed(gone, api):
    migrate()
    call_command("authservice_sync_accounts", verbosity=0)

    assert tables(gone)
    assert Account.objects.count() == 1
    assert api.post("login", password=PASSWORD, **natural(only())).status == 200


def test_core_takes_every_table_that_hangs_on_it_along(api):
    stranger().save()
    fill()
    migrate("authservice_core", "zero")

    assert tables("authservice_core") == set()

    migrate()
    fill()
