"""The rows of the service are read from the primary database, whatever routers the host has."""

import pytest
from django.apps import apps
from django.db import OperationalError, connection

from authservice.core.credentials import attempt_counter
from authservice.core.models import Account, AttemptCounter, Session
from authservice.kernel import databases
from authservice.twofactor.models import BackupCode, RememberedDevice
from tests.support.people import make_user


class Replica:
    """Sends every read to a replica."""

    def db_for_read(self, model, **_):
        return "replica"

    def db_for_write(self, model, **_):
        return "default"


class OtherCounters:
    """Sends the counters of attempts to another database than the users."""

    def db_for_write(self, model, **_):
        return "other" if model is AttemptCounter else "default"

    db_for_read = db_for_write


@pytest.fixture(autouse=True)
def _replica(settings):
    settings.DATABASE_ROUTERS = [Replica()]


@pytest.mark.parametrize("model", [Account, AttemptCounter, Session, BackupCode, RememberedDevice])
def test_rows_of_the_service_are_read_from_the_primary_database(model):
    assert model.objects.all().db == databases.primary() == "default"
    assert model._base_manager.all().db == "replica"


def test_query_may_name_another_database():
    assert Account.objects.using("replica").db == "replica"
    assert Account.objects.db_manager("replica").all().db == "replica"


@pytest.mark.django_db
def test_users_of_natural_keys_are_read_from_the_primary_database():
    """A fixture is loaded into it, and a replica lags behind or has other users."""
    user = make_user()

    assert Account.objects.get_by_natural_key(*user.natural_key()).user_id == user.pk


@pytest.mark.django_db
def test_attempts_are_counted_in_the_primary_database_where_the_cleanup_deletes_them(settings):
    settings.DATABASE_ROUTERS = [OtherCounters()]
    key = attempt_counter.key("password", "ann")

    attempt_counter.consume(key, attempt_counter.PASSWORD)
    attempt_counter.refund(key)

    assert AttemptCounter.objects.using(databases.primary()).get(key=key).count == 0


def test_migrations_do_not_contain_the_manager():
    models = [
        model for model in apps.get_models() if model._meta.app_label.startswith("authservice")
    ]

    assert models
    assert not any(manager.use_in_migrations for m in models for manager in m._meta.managers)


@pytest.mark.django_db
def test_connection_that_was_closed_after_an_earlier_request_is_no_outage(monkeypatch, tmp_path):
    """A project with a second database, which this request has not used."""
    second = connection.copy("second")
    if second.vendor == "sqlite":
        second.settings_dict["NAME"] = str(tmp_path / "second.sqlite3")
    monkeypatch.setattr(databases.connections, "all", lambda **_: [second])

    assert not databases.is_outage(OperationalError("no such table: plum"))
    assert second.connection is None


@pytest.mark.django_db
def test_database_that_cannot_be_reached_is_an_outage(monkeypatch):
    second = connection.copy("second")
    second.settings_dict |= {"NAME": "/missing/folder/plum", "HOST": "127.0.0.1", "PORT": "1"}
    monkeypatch.setattr(databases.connections, "all", lambda **_: [second])

    assert databases.is_outage(OperationalError("no such table: plum"))
