"""An address that several users claim is assigned to no other user."""

import pytest
from django.contrib.auth import get_user_model

from authservice.core.users.sync import sync
from tests.support.people import email_field, make_user

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(
        get_user_model()._meta.get_field(email_field()).unique,
        reason="users of this host have unique addresses",
    ),
]
ANN = "ann@example.com"


@pytest.fixture
def _shared_address(root):
    """Two users share an address, so neither account has its key."""
    make_user(ANN, username="first")
    make_user(ANN, username="second")
    sync(batch_size=100, dry_run=False, progress=lambda done, total: None)


@pytest.mark.usefixtures("_shared_address")
def test_change_to_an_address_that_two_users_share_is_refused(root):
    bob = make_user("bob@example.com")

    answer = root.put(str(bob.pk), email=ANN)

    assert answer.error == (400, "USER_ALREADY_EXISTS")


@pytest.mark.usefixtures("_shared_address")
def test_creation_with_an_address_that_two_users_share_is_refused(root):
    answer = root.create(email=ANN)

    assert answer.error == (400, "USER_ALREADY_EXISTS")
