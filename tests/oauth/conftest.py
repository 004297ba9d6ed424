import pytest

from tests.oauth.servers import openid_server
from tests.oauth.toolkit.server import toolkit_server


@pytest.fixture(scope="session")
def openid():
    """A real OpenID provider (`tests.oauth.servers.OpenIDServer`), started once per process."""
    with openid_server() as server:
        yield server


@pytest.fixture(scope="session")
def toolkit():
    """Another one, built with django-oauth-toolkit."""
    with toolkit_server() as server:
        yield server
