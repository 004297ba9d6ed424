"""Fixtures with natural keys: rows follow their users into a database that has other users."""

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.core.management import call_command

from authservice.core.models import Account
from authservice.kernel import databases
from tests.hosts.inside.rows import fill, labels
from tests.hosts.inside.users import unsaved_user
from tests.support.people import unsaved

pytestmark = pytest.mark.django_db

User = get_user_model()


def tables():
    return [model for label in labels() for model in apps.get_app_config(label).get_models()]


def of_users():
    """Each table with a reference to a user, and the name of that field."""
    return [
        (model, field.name)
        for model in tables()
        for field in model._meta.fields
        if field.is_relation and field.related_model is User
    ]


def empty():
    # Twice, since the deletion of an organization reserves its slug in another table.
    for model in [*reversed(tables()), *tables()]:
        model._base_manager.all().delete()
    User._base_manager.all().delete()


@pytest.fixture
def dumped(tmp_path):
    """Ann with a row in every table, in a file; returns her former key and the file."""
    ann = unsaved_user()
    ann.save()
    fill()
    for model, name in of_users():
        model._base_manager.update(**{name: ann})
    path = tmp_path / "rows.json"
    apps_with_rows = [User._meta.label, *labels()]
    call_command(
        "dumpdata",
        *apps_with_rows,
        natural_primary=True,
        natural_foreign=True,
        database=databases.primary(),
        output=str(path),
    )
    keys = {model: model._base_manager.get().pk for model, _ in of_users()}
    empty()
    return ann, keys, str(path)


def test_rows_follow_their_user_and_leave_others_alone(dumped):
    ann, keys, path = dumped
    ben = unsaved("ben@example.com")
    setattr(ben, User.USERNAME_FIELD, ben.get_username() or "ben")
    ben.pk = ann.pk
    ben.save(force_insert=True)
    for model, name in of_users():
        if model._meta.get_field(name).unique and model is not Account:
            model._base_manager.create(**{name: ben, "pk": keys[model]})

    call_command("loaddata", path, database=databases.primary(), verbosity=0)
    call_command(
        "loaddata", path, database=databases.primary(), verbosity=0
    )  # once more changes nothing

    loaded = User._base_manager.get(**{User.USERNAME_FIELD: ann.get_username()})
    assert loaded.pk != ben.pk
    for model, name in of_users():
        assert model._base_manager.filter(**{name: loaded}).count() == 1, model
        unique = model._meta.get_field(name).unique
        assert model._base_manager.filter(**{name: ben}).count() == unique, model
    assert Account.objects.get(pk=ben.pk).username in ("ben", "")


def test_rows_are_loaded_into_an_empty_database(dumped):
    ann, _, path = dumped

    call_command("loaddata", path, database=databases.primary(), verbosity=0)

    assert User._base_manager.get().get_username() == ann.get_username()
    assert {model: model._base_manager.count() for model in tables()} == dict.fromkeys(tables(), 1)
