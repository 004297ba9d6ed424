"""Deleting a user while other transactions write rows that reference the user."""

from functools import partial
from threading import Thread

import pytest
from django.contrib.auth import get_user_model
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from authservice.core.models import Account, OneTimeToken
from tests.admin_api.people import promote
from tests.races.crowd import SIZE, tally
from tests.support.client import PASSWORD

ANN, ROOT = "ann@example.com", "root@example.com"


@pytest.fixture
def root(crowd, api):
    """The token of the one super admin."""
    token = api.sign_up(ROOT)["access_token"]
    promote(ROOT)
    return token


def insert_reference(pk, outcome):
    """Insert a row that references the user, as a concurrent transaction would."""
    try:
        with transaction.atomic():
            OneTimeToken.objects.create(purpose="host", user_id=pk, expires_at=timezone.now())
    except IntegrityError:
        outcome.append("user does not exist")
    connection.close()


def test_row_inserted_during_a_deletion_does_not_undo_it(root, api):
    ann = api.sign_up(ANN)["user"]["id"]
    outcome = []
    other = Thread(target=insert_reference, args=[ann, outcome])

    def act_before(execute, sql, params, many, context):
        """Insert the row after all references are deleted and before the user is."""
        if sql.startswith("DELETE") and f" {table} " in sql:
            other.start()
            other.join(1)  # a waiting transaction continues after the deletion
        return execute(sql, params, many, context)

    table = connection.ops.quote_name(get_user_model()._meta.db_table)
    with connection.execute_wrapper(act_before):
        answer = api.request("DELETE", f"admin/users/{ann}", token=root)

    other.join(20)
    assert answer.status == 200
    assert outcome == ["user does not exist"]
    assert not Account.objects.filter(pk=ann).exists()


@pytest.mark.usefixtures("login_receivers")
def test_login_during_the_deletion_of_the_user_is_refused(root, api, crowd, rounds):
    for number in rounds:
        email = f"ann{number}@example.com"
        ann = api.sign_up(email)["user"]["id"]
        log_in = partial(api.post, "login", email=email, password=PASSWORD)
        delete = partial(api.request, "DELETE", f"admin/users/{ann}", token=root)

        deleted, *logins = crowd.race([delete, *[log_in] * (SIZE // 4)])

        assert deleted.status == 200
        assert set(tally(logins)) <= {200, "INVALID_CREDENTIALS", "TOO_MANY_ATTEMPTS"}
        assert not Account.objects.filter(pk=ann).exists()
