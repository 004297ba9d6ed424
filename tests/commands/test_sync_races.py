"""The sync of accounts while a request changes the address of a user."""

from threading import Event, Thread

import pytest
from django.db import connection, transaction

from authservice.core.models import Account
from authservice.core.users import identifier_change, identifiers, lookup
from authservice.core.users.identifiers import EMAIL
from authservice.core.users.sync import sync
from tests.support import needs
from tests.support.people import change, make_user, the_user

pytestmark = [pytest.mark.django_db(transaction=True), needs.several_writers]

NEW = "new@example.com"
PATIENCE = 20
# Long enough that the sync reads the batch before the commit.
UNCOMMITTED = 0.7


@pytest.fixture
def uncommitted_change():
    """Call it to change the address of the user in another transaction, which commits later."""
    written, threads = Event(), []

    def replace():
        try:
            with transaction.atomic():
                identifier_change.replace(lookup.get_person(the_user()), EMAIL, NEW)
                written.set()
                Event().wait(UNCOMMITTED)
        finally:
            connection.close()

    def start():
        threads.append(Thread(target=replace))
        threads[0].start()
        assert written.wait(PATIENCE)

    yield start
    for thread in threads:
        thread.join()


def test_sync_waits_for_an_uncommitted_change_of_an_address(uncommitted_change):
    ann = make_user(username="first")
    change(username="renamed")

    def progress(done, steps):
        if done * 3 == steps * 2:  # the write pass follows
            uncommitted_change()

    sync(batch_size=1000, dry_run=False, progress=progress)

    account = Account.objects.get(user=ann)
    assert (account.email, account.email_key) == (NEW, identifiers.email_key(NEW))
    assert account.username == "renamed"
