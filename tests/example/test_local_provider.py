"""The provider that `serve` starts, so that the first button of the sign-in page works at once."""

from functools import partial
from time import sleep
from urllib.request import urlopen

import pytest

from tests.example.servers import Service, services, visit
from tests.support.ports import free_port
from tests.support.processes import wait_for

pytestmark = pytest.mark.slow


def test_serve_starts_the_local_provider_which_ends_with_the_server(tmp_path):
    issuer, log = f"http://localhost:{(port := free_port())}", tmp_path / "log"
    answers = partial(visit, f"{issuer}/.well-known/openid-configuration")
    with services(tmp_path, AUTHSERVICE_LOCAL_PROVIDER_PORT=str(port)) as running:
        origin = running.origin(Service())
        wait_for(answers, log)
        # The page of the provider, behind a redirect.
        with urlopen(f"{origin}/auth/oauth/oidc") as page:
            assert page.url.startswith(f"{issuer}/")

    assert ends(answers)


def ends(answers):
    for _ in range(100):
        try:
            answers()
        except OSError:
            return True
        sleep(0.1)
    return False
