"""DELETE /admin/users/{id} removes a user unless other records reference it."""

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.db.models import ProtectedError
from django.db.models.signals import pre_delete

from authservice.core.models import Account, Session
from tests.admin_api.people import ANN, PHONE, account
from tests.contract.shapes import fits, is_refusal
from tests.support.client import PASSWORD

pytestmark = pytest.mark.django_db
DEFERRED = " DEFERRABLE INITIALLY DEFERRED"  # checked at commit


def test_deletion_removes_the_user_the_account_and_the_sessions(root, ann, ann_id):
    answer = root.delete(ann_id)

    assert answer.status == 200
    assert fits(answer.body, {"data": {"message": str}})
    assert not get_user_model().objects.filter(pk=ann_id).exists()
    assert Account.objects.count() == 1
    assert not Session.objects.filter(user=ann_id).exists()


def test_tokens_and_password_of_a_deleted_user_are_refused_at_once(root, api, ann, ann_id):
    root.delete(ann_id)

    assert api.get("me", token=ann["access_token"]).error == (401, "INVALID_TOKEN")
    refused = api.post("refresh", refresh_token=ann["refresh_token"])
    assert refused.error == (401, "INVALID_REFRESH_TOKEN")
    assert api.post("login", email=ANN, password=PASSWORD).error == (401, "INVALID_CREDENTIALS")


def test_identifiers_of_a_deleted_user_are_available(root, api, ann_id):
    root.delete(ann_id)

    api.sign_up(ANN, username="ann", phone_number=PHONE)


def test_second_deletion_is_not_found(root, ann_id):
    root.delete(ann_id)

    assert is_refusal(root.delete(ann_id), 404, "USER_NOT_FOUND")
    assert is_refusal(root.show(ann_id), 404, "USER_NOT_FOUND")


@pytest.fixture
def before_deletion():
    """`before_deletion(receiver)` connects a receiver of `pre_delete`."""
    connected = []

    def connect(receiver):
        pre_delete.connect(receiver, sender=get_user_model(), weak=False)
        connected.append(receiver)

    yield connect
    for receiver in connected:
        pre_delete.disconnect(receiver, sender=get_user_model())


def test_receivers_are_called_before_the_deletion(root, ann_id, before_deletion):
    calls = []
    before_deletion(lambda instance, **_: calls.append((str(instance.pk), account().email)))

    root.delete(ann_id)

    assert calls == [(ann_id, ANN)]


def test_error_in_a_receiver_rolls_the_deletion_back(root, ann_id, before_deletion):
    def fail(**_):
        raise RuntimeError("the organization has no other owner")

    before_deletion(fail)
    root.api.raising = False
    assert root.delete(ann_id).status == 500

    assert root.show(ann_id).status == 200


@pytest.fixture
def invoices():
    """A table with a reference that Django does not delete, as with `on_delete=DO_NOTHING`."""
    users, deferred = get_user_model()._meta, "" if connection.vendor == "mysql" else DEFERRED
    column, quote = users.pk.rel_db_type(connection), connection.ops.quote_name
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE TABLE invoices (payer {column}, FOREIGN KEY (payer)"
            f" REFERENCES {quote(users.db_table)} ({quote(users.pk.column)}){deferred})"
        )
        yield cursor
        cursor.execute("DROP TABLE invoices")


@pytest.mark.django_db(transaction=True)
def test_user_referenced_by_a_foreign_key_of_the_database_is_in_use(root, ann_id, invoices):
    key = get_user_model()._meta.pk.get_db_prep_value(account().pk, connection)
    invoices.execute("INSERT INTO invoices VALUES (%s)", [key])

    assert is_refusal(root.delete(ann_id), 409, "USER_IN_USE")
    assert root.show(ann_id).status == 200


def test_user_referenced_by_a_protected_row_of_the_host_is_in_use(root, ann_id, monkeypatch):
    def protected(self, *args, **options):
        raise ProtectedError("Invoices reference the user.", set())

    monkeypatch.setattr(get_user_model(), "delete", protected)

    assert is_refusal(root.delete(ann_id), 409, "USER_IN_USE")
    assert root.show(ann_id).status == 200
