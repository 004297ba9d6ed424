import pytest
from django.db import connection

from authservice.core.credentials import passwords
from authservice.twofactor import views
from tests.races.crowd import Crowd, asked_rounds, crowd_limit
from tests.races.hashers import Counting
from tests.support.client import Api


@pytest.fixture(autouse=True)
def _no_floods(settings):
    """All requests of a crowd come from one address; the rate limits are not under test here."""
    settings.AUTHSERVICE = {**settings.AUTHSERVICE, "THROTTLE": {"ENABLED": False}}


@pytest.fixture(scope="module")
def gathered():
    """One crowd per module, since opening its connections takes longer than most of the tests."""
    with crowd_limit():
        crowd = Crowd()
        yield crowd
        crowd.close()


@pytest.fixture
def crowd(transactional_db, gathered, caplog, monkeypatch):
    # A loaded machine must not refuse a request of the crowd because it waits for its hash.
    monkeypatch.setattr(passwords, "WAIT", 60)
    # Drawing the code takes a hundred times as long as what races.
    monkeypatch.setattr(views, "qr_code", lambda _: "data:,")
    yield gathered
    # Retries resolve deadlocks with the host: authservice itself takes its locks in one order.
    if connection.vendor == "postgresql":
        messages = [record.getMessage() for record in caplog.get_records("call")]
        assert not [text for text in messages if "deadlock" in text]


@pytest.fixture
def api() -> Api:
    # The signal of an unexpected exception reaches every test client of the process; a 500 reaches
    # only the client of the request.
    return Api(raising=False)


@pytest.fixture(params=["no other login receivers", "other login receivers"])
def login_receivers(request):
    """`last_login` is written with the session, or earlier if the signal has other receivers."""
    if request.param.startswith("no "):
        request.getfixturevalue("no_login_receivers")


@pytest.fixture
def rounds() -> range:
    # Other databases lock rows by other means with the same result, so a few rounds suffice.
    return asked_rounds(8 if connection.vendor == "postgresql" else 3)


@pytest.fixture
def hashes(settings) -> list[None]:
    """One entry per computed password hash."""
    settings.PASSWORD_HASHERS = ["tests.races.hashers.Counting"]
    made: list[None] = []
    Counting.watch.append(lambda: made.append(None))
    yield made
    Counting.watch.clear()
