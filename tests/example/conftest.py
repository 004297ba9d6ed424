import pytest

from tests.example.console import Profile
from tests.example.servers import Service, services
from tests.support.browser import chromium
from tests.support.ports import free_port


def group(service):
    """The tests with a database share its services, so one worker runs them."""
    return pytest.mark.xdist_group(f"console {service.database}")


@pytest.fixture(scope="package")
def provider_port():
    return free_port()


@pytest.fixture(scope="package")
def consoles(tmp_path_factory, provider_port):
    issuer = f"http://localhost:{provider_port}"
    oidc = {"OIDC_ISSUER": issuer, "OIDC_CLIENT_ID": "id", "OIDC_CLIENT_SECRET": "secret"}
    given = {**oidc, "AUTHSERVICE_ALLOW_SELF_DELETE": "1"}
    with services(tmp_path_factory.mktemp("console"), **given) as started:
        yield started


@pytest.fixture(scope="package")
def browsers(tmp_path_factory):
    """Two profiles, which share nothing."""
    with (
        chromium(tmp_path_factory.mktemp("first")) as first,
        chromium(tmp_path_factory.mktemp("second")) as second,
    ):
        yield first, second


@pytest.fixture
def ann(consoles, browsers):
    return Profile(browsers[0], consoles.origin(Service()))
