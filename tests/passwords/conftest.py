from collections.abc import Iterator

import pytest

from authservice.core.credentials import password_rules
from tests.kernel.outbound.servers import served
from tests.passwords.ranges import Ranges
from tests.support import slots
from tests.support.flows import CommittingApi, Flows
from tests.support.messenger.post import Post, receiving_jobs


@pytest.fixture
def api():
    return CommittingApi()


@pytest.fixture(autouse=True)
def post() -> Iterator[Post]:
    """The messenger that takes the jobs."""
    with receiving_jobs() as post:
        yield post


@pytest.fixture
def flows(api, post) -> Flows:
    return Flows(api, post)


@pytest.fixture
def validate(settings):
    """`validate("NotCommon", filter=path)` makes it the only validator of the project."""

    def name(*entries, **options):
        settings.AUTH_PASSWORD_VALIDATORS = [
            {"NAME": f"authservice.validators.{entry}", "OPTIONS": options} for entry in entries
        ]

    return name


@pytest.fixture
def ranges(configure, validate) -> Iterator[Ranges]:
    """The server that `NotBreached`, the only validator, asks."""
    found = Ranges()
    with served(found) as found.server:
        configure(OUTBOUND={"PRIVATE_HOSTS": ["127.0.0.1"], "INSECURE_HOSTS": ["127.0.0.1"]})
        validate("NotBreached", url=found.url)
        yield found


@pytest.fixture
def recorded() -> Iterator[list]:
    """The events that the listener received."""
    events = []
    with slots.listening(events.append):
        yield events


@pytest.fixture
def later(monkeypatch):
    """`later(61)` lets so many seconds pass for the circuit."""
    passed = [0.0]
    real = password_rules.monotonic
    monkeypatch.setattr(password_rules, "monotonic", lambda: real() + passed[0])

    def wait(seconds):
        passed[0] += seconds

    return wait
