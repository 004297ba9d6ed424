from datetime import UTC, datetime, timedelta

import pytest

from tests.compat.inside.old import OURS, THEIRS, OldClient
from tests.support.people import make_user
from tests.support.slots import Listener


@pytest.fixture
def ann(db):
    """A user whom the project created before it installed this service."""
    return make_user()


@pytest.fixture
def client() -> OldClient:
    """A client of simplejwt at our routes."""
    return OldClient(OURS)


@pytest.fixture
def before() -> OldClient:
    """The same client at the routes of simplejwt itself."""
    return OldClient(THEIRS)


@pytest.fixture
def tokens(ann, client):
    """The answer to a login at our routes."""
    answer = client.obtain()
    assert answer.status == 200, answer.body
    return answer.body


@pytest.fixture
def trades(settings):
    """Refresh tokens of simplejwt that are issued now are traded; `trades(UNTIL=…)` changes it."""

    def trade(**changed):
        now = datetime.now(UTC)
        keys = {
            "ISSUED_BEFORE": now + timedelta(minutes=1),
            "UNTIL": now + timedelta(days=60),
            **changed,
        }
        chosen = {f"TRADE_{name}": value for name, value in keys.items() if value}
        settings.AUTHSERVICE = {**settings.AUTHSERVICE, "SIMPLEJWT": chosen}

    trade()
    return trade


@pytest.fixture
def events(monkeypatch):
    """`events(prefix)` lists the recorded events whose action has this prefix."""
    recorded = []
    monkeypatch.setattr(
        "authservice.kernel.events.plugs", lambda slot: (Listener(recorded.append),)
    )
    return lambda prefix: [event for event in recorded if event.action.startswith(prefix)]
