import pytest

from tests.plugs import fillers


@pytest.fixture
def install(settings):
    """Install a module of the tests beside the others."""
    fillers.kept.clear()
    fillers.sent.clear()

    def install(name):
        settings.INSTALLED_APPS = [*settings.INSTALLED_APPS, f"tests.plugs.apps.{name}"]

    return install
