"""The receiver of `post_save`: users in other databases, and users by multi-table inheritance."""

from dataclasses import replace

import pytest
from django.contrib.auth import get_user_model
from django.db import connections, models, transaction
from django.db.models import Value
from django.db.models.functions import Lower
from django.test.utils import isolate_apps

from authservice.core.models import Account
from authservice.core.users import lookup
from authservice.core.users.user_model import host
from authservice.kernel import databases
from tests.support.people import email_field, has, make_user, the_user, unsaved

ANN, NEW = "ann@example.com", "new@example.com"


def send(using):
    """Send the signal of a stored user without an account, who was saved in this database."""
    get_user_model().objects.bulk_create([unsaved(ANN)])
    lookup.sync_account_of_user(get_user_model(), the_user(ANN), using=using)
    return Account.objects.count()


@pytest.mark.django_db
def test_user_saved_in_the_database_of_the_users_gets_an_account():
    assert send(databases.primary()) == 1


@pytest.mark.django_db
def test_account_has_the_values_that_the_database_computed():
    user = unsaved(ANN)
    setattr(user, host().email, Lower(Value("New@Example.com")))
    user.save()

    assert Account.objects.get().email == NEW


@pytest.mark.django_db
@pytest.mark.skipif(not has("username"), reason="its users have no username")
def test_account_has_no_values_that_were_not_saved():
    get_user_model().objects.bulk_create([unsaved(ANN)])
    user = the_user(ANN)
    user.username = "victim"
    user.save(update_fields=[host().email])

    assert Account.objects.get().username == the_user(ANN).username != "victim"


@pytest.mark.django_db
def test_user_saved_in_another_database_gets_no_account():
    assert send("archive") == 0


@pytest.mark.skipif("replica" not in connections, reason="only a replica has the table of users")
@pytest.mark.django_db(transaction=True, databases="__all__")
def test_user_saved_in_another_database_does_not_roll_back_the_transaction():
    with transaction.atomic(using=databases.primary()):
        kept = make_user(ANN)
        unsaved("copy@example.com").save(using="replica")

    assert [account.user_id for account in Account.objects.all()] == [kept.pk]


@pytest.fixture
def employees(transactional_db, monkeypatch):
    """A user model that inherits the table of the host's one; its rows have accounts."""
    user, using = get_user_model(), connections[databases.primary()]
    with isolate_apps(user._meta.app_config.name):

        class Employee(user):
            number = models.CharField(max_length=10, default="")

            class Meta:
                app_label = user._meta.app_label

    with using.schema_editor() as editor:
        editor.create_model(Employee)
    monkeypatch.setattr(lookup, "host", lambda: replace(host(), model=Employee))
    yield Employee
    with using.schema_editor() as editor:
        editor.delete_model(Employee)


def save_parent(pk, **values):
    parent = get_user_model().objects.get(pk=pk)
    for name, value in values.items():
        setattr(parent, name, value)
    parent.save(update_fields=list(values) or None)


def employ(employees, email):
    made = employees()
    made.__dict__.update({k: v for k, v in unsaved(email).__dict__.items() if k != "_state"})
    made.save()
    return made


def test_address_changed_in_the_parent_row_is_copied(employees):
    ann = employ(employees, ANN)
    assert Account.objects.get(pk=ann.pk).email == ANN

    save_parent(ann.pk, **{email_field(): NEW})

    assert Account.objects.get(pk=ann.pk).email == NEW


def test_parent_row_without_a_user_gets_no_account(employees):
    make_user(ANN)

    assert not Account.objects.exists()


def test_parent_row_saved_without_an_identifier_is_not_read(employees, django_assert_num_queries):
    ann = employ(employees, ANN)
    parent = get_user_model().objects.get(pk=ann.pk)

    with django_assert_num_queries(1, using=databases.primary()):
        parent.save(update_fields=["password"])
