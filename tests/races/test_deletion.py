"""Deleting a user while others write rows that refer to them."""

from functools import partial

import pytest

from authservice.core.models import Account
from tests.admin_api.people import promote
from tests.client import PASSWORD
from tests.races.crowd import SIZE, tally

ROOT = "root@example.com"


@pytest.fixture
def root(crowd, api):
    """The token of the one super admin."""
    token = api.sign_up(ROOT)["access_token"]
    promote(ROOT)
    return token


def test_people_who_sign_in_while_they_are_deleted_are_refused(root, api, crowd, rounds):
    for number in rounds:
        email = f"ann{number}@example.com"
        ann = api.sign_up(email)["user"]["id"]
        log_in = partial(api.post, "login", email=email, password=PASSWORD)
        delete = partial(api.request, "DELETE", f"admin/users/{ann}", token=root)

        deleted, *entered = crowd.race([delete, *[log_in] * (SIZE // 4)])

        assert deleted.status == 200
        assert set(tally(entered)) <= {200, "INVALID_CREDENTIALS", "TOO_MANY_ATTEMPTS"}
        assert not Account.objects.filter(pk=ann).exists()
