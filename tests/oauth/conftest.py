import pytest

from tests.oauth.servers import openid_server


@pytest.fixture(scope="session")
def openid():
    """A real OpenID provider (`tests.oauth.servers.OpenIDServer`), started once per process."""
    with openid_server() as server:
        yield server
