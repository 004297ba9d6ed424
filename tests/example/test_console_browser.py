"""A complete visit to the console of the example project in a real Chromium."""

import subprocess

import pytest

from tests.example.console import PASSWORD, SIZES, Profile, console
from tests.support.browser import chromium, needs_chromium

pytestmark = [pytest.mark.slow, needs_chromium]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with console(tmp_path_factory.mktemp("console"), AUTHSERVICE_LOGIN="session") as origin:
        yield origin


@pytest.fixture(scope="module")
def browsers(tmp_path_factory):
    """Two profiles, which share nothing."""
    with (
        chromium(tmp_path_factory.mktemp("first")) as first,
        chromium(tmp_path_factory.mktemp("second")) as second,
    ):
        yield first, second


@pytest.mark.parametrize("size", SIZES)
def test_user_signs_up_verifies_and_logs_in(server, browsers, size):
    ann = Profile(browsers[0], server, size)
    address = f"ann-{size}@example.com"

    assert "INVALID_CREDENTIALS" in ann.send("login", email=address, password=PASSWORD)
    ann.send("signup", email=address, password=PASSWORD)
    ann.until(lambda: ann.text("#who") == f"Signed in as {address}")
    ann.follow(address, "/verify-email?")
    ann.until(lambda: ann.text("#banner") == "The address is verified.")
    ann.back()
    ann.send("me")
    assert ann.text("#user [data-text=email_verified]") == "true"

    command = ann.command("GET /auth/me")
    run = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert address in run.stdout

    assert "Logged out" in ann.send("logout")
    ann.send("login", email=address, password=PASSWORD)
    ann.until(lambda: ann.text("#who") == f"Signed in as {address}")
    assert ann.is_as_wide_as_the_screen()
    assert ann.browser.execute_script("return localStorage.length + sessionStorage.length") == 0
    # Chromium reports each refused request as an error of its console.
    assert [one for one in ann.complaints() if "401 (Unauthorized)" not in one] == []
