"""Classes that a project imports early: beside its user model, or as defaults of REST views."""

import pytest

from tests.hosts.runs import python


def test_authentication_class_is_imported_before_the_models_are_loaded():
    run = python("-c", "import authservice.authentication", DJANGO_SETTINGS_MODULE="tests.settings")

    assert run.returncode == 0, run.stdout


DEFAULTS = """
from django.conf import settings
settings.REST_FRAMEWORK = {"DEFAULT_PERMISSION_CLASSES": %r}
import django
django.setup()
import rest_framework.views
"""


PERMISSIONS = [
    "authservice.permissions.IsEmailVerified",
    "authservice.organization.permissions.IsOrganizationMember",
]


# Slow with each alone, since that is a process.
@pytest.mark.parametrize(
    "paths", [PERMISSIONS, *(pytest.param([path], marks=pytest.mark.slow) for path in PERMISSIONS)]
)
def test_permissions_can_be_defaults_of_the_rest_framework(paths):
    run = python("-c", DEFAULTS % paths, host="everything", DJANGO_SETTINGS_MODULE="tests.settings")

    assert run.returncode == 0, run.stdout


ALONE = """
from django.conf import settings
settings.INSTALLED_APPS = [app for app in settings.INSTALLED_APPS if app != "authservice.core"]
import django
django.setup()
"""


def test_module_without_core_says_what_is_missing():
    run = python("-c", ALONE, host="everything", DJANGO_SETTINGS_MODULE="tests.settings")

    assert "requires 'authservice.core', which is not in INSTALLED_APPS." in run.stdout
