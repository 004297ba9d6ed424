"""The migrations of each module can be reverted and applied again in a project with users."""

import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import connections

from authservice.core.models import Account
from authservice.kernel import databases
from tests.hosts.inside.rows import fill, labels
from tests.hosts.inside.users import natural, only, unsaved_user
from tests.support.client import PASSWORD, Api

pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")


def migrate(*where):
    call_command("migrate", *where, database=databases.primary(), verbosity=0)


def tables(label):
    names = connections[databases.primary()].introspection.table_names()
    return {name for name in names if name.startswith(f"{label}_")}


@pytest.fixture(scope="module", params=labels())
def moved(request, django_db_setup, django_db_blocker):
    """The state of the database after the migrations of a module with rows were reverted and
    applied again. This runs once per module, since it is slow. Each test leaves an empty database.
    """
    label, seen = request.param, {}
    with django_db_blocker.unblock():
        unsaved_user().save()
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


def test_reverted_migrations_leave_no_table(moved):
    assert moved["tables left behind"] == set()


def test_reverted_migrations_keep_the_users(moved):
    assert moved["users left behind"] == 1


def test_migrations_applied_again_serve_existing_users(moved):
    assert moved["tables"]
    assert (moved["accounts"], moved["login"]) == (1, 200)


def test_reverted_migrations_of_core_remove_dependent_tables(api):
    unsaved_user().save()
    fill()
    migrate("authservice_core", "zero")

    assert tables("authservice_core") == set()

    migrate()
    fill()
