"""The tables of each module can be taken out of a project and put back in, with people in it."""

import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import connections

from authservice.core.models import Account
from authservice.kernel import databases
from tests.client import PASSWORD, Api
from tests.hosts.inside.rows import fill, labels
from tests.hosts.inside.users import natural, only, stranger

pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")


def migrate(*where):
    call_command("migrate", *where, database=databases.primary(), verbosity=0)


def tables(label):
    names = connections[databases.primary()].introspection.table_names()
    return {name for name in names if name.startswith(f"{label}_")}


@pytest.fixture(scope="module", params=labels())
def moved(request, django_db_setup, django_db_blocker):
    """What was seen of a module whose tables, with rows in every one, left the project and came
    back: done once, since it takes longer than all the rest. Each test leaves an empty database.
    """
    label, seen = request.param, {}
    with django_db_blocker.unblock():
        stranger().save()
        fill()
        migrate(label, "zero")
        seen["tables left behind"] = tables(label)
        seen["users left behind"] = users()
        migrate()
        call_command("authservice_sync_accounts", verbosity=0)
        seen["tables"] = tables(label)
        seen["accounts"] = Account.objects.count()
        seen["login"] = Api().post("login", password=PASSWORD, **natural(only())).status
    return seen


def users():
    return get_user_model()._base_manager.using(databases.primary()).count()


def test_migrating_back_leaves_no_table(moved):
    assert moved["tables left behind"] == set()


def test_nobody_goes_with_them(moved):
    assert moved["users left behind"] == 1


def test_migrating_forth_again_serves_the_users_who_stayed(moved):
    assert moved["tables"]
    assert (moved["accounts"], moved["login"]) == (1, 200)


def test_core_takes_every_table_that_hangs_on_it_along(api):
    stranger().save()
    fill()
    migrate("authservice_core", "zero")

    assert tables("authservice_core") == set()

    migrate()
    fill()
