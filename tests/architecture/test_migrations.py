"""Migrations say what the models say, whatever the host's user model, and can be undone."""

import pytest
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from authservice.kernel import modules

LONGEST_NAME = 30


def labels():
    return [config.label for config in modules.installed() if any(config.get_models())]


def migrations():
    loaded = MigrationLoader(None).disk_migrations
    return [made for (label, _), made in loaded.items() if label in labels()]


@pytest.mark.django_db
def test_nothing_is_left_to_migrate():
    call_command("makemigrations", *labels(), check=True, dry_run=True, verbosity=0)


def test_no_migration_depends_on_another_app_but_the_one_of_the_user_model():
    foreign = [
        dependency
        for made in migrations()
        for dependency in made.dependencies
        if dependency[0] not in labels()
    ]

    assert foreign
    assert {getattr(one, "setting", one) for one in foreign} == {settings.AUTH_USER_MODEL}


def test_constraints_and_indexes_have_names_of_ours_that_every_database_takes():
    names = [
        made.name
        for label in labels()
        for model in apps.get_app_config(label).get_models()
        for made in (*model._meta.constraints, *model._meta.indexes)
    ]

    assert [name for name in names if not name.startswith("authsvc_")] == []
    assert [name for name in names if len(name) > LONGEST_NAME] == []


def test_app_labels_begin_with_authservice():
    assert [label for label in labels() if not label.startswith("authservice_")] == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("label", labels())
def test_a_module_can_be_migrated_away_and_back(label):
    executor = MigrationExecutor(connection)
    newest = [node for node in executor.loader.graph.leaf_nodes() if node[0] == label]
    tables = set(connection.introspection.table_names())

    executor.migrate([(label, None)])
    without = set(connection.introspection.table_names())
    executor.loader.build_graph()
    MigrationExecutor(connection).migrate(newest)

    assert {table for table in tables - without if not table.startswith(f"{label}_")} == set()
    assert tables - without
    assert set(connection.introspection.table_names()) == tables
