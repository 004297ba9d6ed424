import pytest
from django.db import connection

from tests.client import Api
from tests.races.crowd import Crowd, turn
from tests.races.hashers import Counting


@pytest.fixture(autouse=True)
def _several_writers():
    if connection.vendor == "sqlite":
        pytest.skip("SQLite lets one writer in at a time, so nothing races for a row")


@pytest.fixture(autouse=True)
def _no_floods(settings):
    """All of a crowd come from one address; what limits an address is not what is tried here."""
    settings.AUTHSERVICE = {**settings.AUTHSERVICE, "THROTTLE": {"ENABLED": False}}


@pytest.fixture(scope="module")
def gathered():
    """Connections take longer to open than most races take."""
    with turn():
        crowd = Crowd()
        yield crowd
        crowd.leave()


@pytest.fixture
def crowd(transactional_db, gathered, caplog):
    yield gathered
    # Outlasting them is for locks that are not ours: our own are taken in one order.
    if connection.vendor == "postgresql":
        said = [record.getMessage() for record in caplog.get_records("call")]
        assert not [words for words in said if "deadlock" in words]


@pytest.fixture
def api() -> Api:
    # A crash is told to every test client of the process; as a 500 it stays with its own request.
    return Api(raising=False)


@pytest.fixture(params=["nobody else hears of logins", "others hear of logins"])
def hearing(request):
    """When somebody last signed in is written with the sign-in, or before others hear of it."""
    if request.param.startswith("nobody"):
        request.getfixturevalue("unheard")


@pytest.fixture
def rounds() -> range:
    # Elsewhere rows are locked by other means but to the same end, so a few rounds do.
    return range(20 if connection.vendor == "postgresql" else 5)


@pytest.fixture
def hashes(settings) -> list[None]:
    """One entry per password hash, checked or made."""
    settings.PASSWORD_HASHERS = ["tests.races.hashers.Counting"]
    made: list[None] = []
    Counting.watch.append(lambda: made.append(None))
    yield made
    Counting.watch.clear()
