import pytest

from tests.support.modules import fillers


@pytest.fixture
def install(settings):
    """Install a module of the tests in addition to the others."""
    fillers.recorded.clear()
    fillers.sent.clear()

    def install(name):
        settings.INSTALLED_APPS = [*settings.INSTALLED_APPS, f"tests.support.modules.apps.{name}"]

    return install
