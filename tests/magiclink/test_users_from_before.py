"""Users from before the service was installed keep their password if their address is proven."""

from datetime import timedelta

import pytest
from django.core.checks import run_checks
from django.core.management import call_command
from django.db import connections
from django.utils import timezone

from authservice.core.models import Account
from authservice.kernel import databases
from tests.magiclink.magic import ANN
from tests.support.client import PASSWORD
from tests.support.people import has, the_user, unsaved

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not has("date_joined"), reason="its users have no date_joined"),
]
CHECKS = ("authservice.W260", "authservice.W261")


@pytest.fixture
def old_user():
    unsaved(ANN, date_joined=timezone.now() - timedelta(days=900)).save()
    return the_user()


@pytest.fixture
def found():
    """The ids of the checks that query the database."""

    def found(aliases, tags=None):
        wrong = run_checks(tags=tags, databases=aliases)
        return tuple(sorted(str(one.id) for one in wrong if one.id in CHECKS))

    return found


def test_first_magic_link_of_an_unproven_address_removes_the_password(magic, old_user):
    call_command("authservice_sync_accounts", verbosity=0, stdout=None)

    assert magic.follow(magic.mailed().token).status == 200

    assert not the_user().has_usable_password()


def test_first_magic_link_of_a_proven_address_keeps_the_password(api, magic, old_user, capsys):
    call_command("authservice_sync_accounts", verified="all")

    assert magic.follow(magic.mailed().token).status == 200

    assert api.post("login", email=ANN, password=PASSWORD).status == 200


def test_check_warns_of_passwords_that_a_first_proof_removes(found, old_user):
    assert found([databases.primary()]) == CHECKS


def test_check_queries_no_database_unless_one_is_named(found, old_user, django_assert_num_queries):
    # Django's own check of a JSONField asks SQLite once for each connection.
    assert connections[databases.primary()].features.supports_json_field

    with django_assert_num_queries(0):
        assert found(None) == ()
        assert found(None, ["authservice"]) == ()


def test_check_is_silent_once_the_addresses_are_proven(found, old_user, capsys):
    call_command("authservice_sync_accounts", verified="all")

    assert found([databases.primary()]) == ()


def test_check_is_silent_for_users_who_signed_up_here(api, found):
    api.sign_up()

    assert found([databases.primary()]) == ()


def test_check_is_silent_if_nothing_is_removed(found, old_user, configure):
    configure(CORE={"WIPE_UNPROVEN": False})

    assert found([databases.primary()]) == ()


@pytest.mark.django_db(transaction=True)
def test_check_is_silent_before_the_first_migration(found, old_user):
    there, away = Account._meta.db_table, "accounts_away"
    connection = connections[databases.primary()]
    with connection.schema_editor() as editor:
        editor.alter_db_table(Account, there, away)
    try:
        assert found([databases.primary()]) == ()
    finally:
        with connection.schema_editor() as editor:
            editor.alter_db_table(Account, away, there)
    assert found([databases.primary()]) == CHECKS
