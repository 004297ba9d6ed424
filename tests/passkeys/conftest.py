from collections.abc import Iterator

import pytest

from authservice.kernel import modules
from tests.passkeys.people import Holder
from tests.support.flows import CommittingApi, prove
from tests.support.messenger.post import Post, office
from tests.support.slots import Listener


@pytest.fixture(autouse=True)
def _still(clock):
    """Only a test moves the clock for long, so that proofs are recent."""


@pytest.fixture(autouse=True)
def post() -> Iterator[Post]:
    """The test messenger, which keeps the queued jobs."""
    office.jobs.clear()
    office.can_sms = True
    with modules.plugged("messenger", office):
        yield office


@pytest.fixture
def api():
    return CommittingApi()


@pytest.fixture
def passkeys(configure):
    """`passkeys(RP_ID="example.com")` sets keys of the PASSKEYS section."""

    def change(**keys):
        configure(PASSKEYS=keys)

    return change


@pytest.fixture
def ann(api, post) -> Holder:
    """A user with a password and a proven address, without a passkey."""
    holder = Holder(api).sign_up()
    prove()
    post.jobs.clear()
    return holder


@pytest.fixture
def bob(api) -> Holder:
    return Holder(api, "bob@example.com").sign_up()


@pytest.fixture
def events(monkeypatch):
    """`events()` lists the recorded events of passkeys; `events(prefix)` those of others."""
    recorded = []
    monkeypatch.setattr(
        "authservice.kernel.events.plugs", lambda slot: (Listener(recorded.append),)
    )

    def named(*prefixes):
        prefixes = prefixes or ("auth.passkey.", "security.passkey.")
        return [event for event in recorded if event.action.startswith(prefixes)]

    return named
