"""Deleting a user while others write rows that refer to them."""

from functools import partial
from threading import Thread

import pytest
from django.contrib.auth import get_user_model
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from authservice.core.models import Account, OneTimeToken
from tests.admin_api.people import promote
from tests.client import PASSWORD
from tests.races.crowd import SIZE, tally

ANN, ROOT = "ann@example.com", "root@example.com"


@pytest.fixture
def root(crowd, api):
    """The token of the one super admin."""
    token = api.sign_up(ROOT)["access_token"]
    promote(ROOT)
    return token


def refer(pk, outcome):
    """What another does meanwhile: a row that refers to the user."""
    try:
        with transaction.atomic():
            OneTimeToken.objects.create(purpose="host", user_id=pk, expires_at=timezone.now())
    except IntegrityError:
        outcome.append("nobody to refer to")
    connection.close()


def test_a_row_that_refers_to_the_user_does_not_undo_the_deletion(root, api):
    ann = api.sign_up(ANN)["user"]["id"]
    outcome = []
    other = Thread(target=refer, args=[ann, outcome])

    def act_before(execute, sql, params, many, context):
        """Once all that refers to the user is gone, and before the user is."""
        if sql.startswith("DELETE") and f" {table} " in sql:
            other.start()
            other.join(1)  # who has to wait is still there afterwards
        return execute(sql, params, many, context)

    table = connection.ops.quote_name(get_user_model()._meta.db_table)
    with connection.execute_wrapper(act_before):
        answer = api.request("DELETE", f"admin/users/{ann}", token=root)

    other.join(20)
    assert answer.status == 200
    assert outcome == ["nobody to refer to"]
    assert not Account.objects.filter(pk=ann).exists()


@pytest.mark.usefixtures("hearing")
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
