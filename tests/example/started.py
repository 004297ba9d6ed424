"""The beginning of scripts that run in the example project, with the tables of a database."""

SCRIPT = """
import json, django
from django.conf import settings
from tests.snippets.project import NoMigrations
settings.MIGRATION_MODULES = NoMigrations()  # tables from the models, which takes less time
django.setup()
from django.core.management import call_command
from django.test import Client
call_command("migrate", run_syncdb=True, verbosity=0)
"""
VARIABLES = {
    "DATABASE_URL": "sqlite://:memory:",
    "DJANGO_SETTINGS_MODULE": "example_project.settings",
}
