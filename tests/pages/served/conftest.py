import pytest

from tests.oauth.servers import openid_server
from tests.support.browser import chromium


@pytest.fixture(autouse=True, scope="module")
def _pages():
    """Not those of the other tests of this folder: each project has its own."""


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    # The page of the provider has a style from elsewhere.
    here = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"
    with chromium(tmp_path_factory.mktemp("walk"), here) as browser:
        yield browser


@pytest.fixture(scope="session")
def provider():
    with openid_server() as server:
        yield server
