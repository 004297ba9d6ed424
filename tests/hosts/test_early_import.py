"""A project may import `authservice.authentication` in the module of its own user model."""

from tests.hosts.runs import python


def test_authentication_class_is_imported_before_the_models_are_loaded():
    run = python("-c", "import authservice.authentication", DJANGO_SETTINGS_MODULE="tests.settings")

    assert run.returncode == 0, run.stdout
