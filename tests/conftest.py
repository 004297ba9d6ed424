import gc
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from unittest.mock import patch

import pytest
from django.contrib.auth.signals import user_logged_in
from django.core.cache import caches
from django.utils import translation

from authservice.kernel import actions, modules
from authservice.kernel import clock as source
from authservice.kernel.interfaces import AccountAccess, SecondFactor
from tests.support import emptied, installed, needs, readings
from tests.support.client import Api

# Each takes as long as hundreds of others. Most of them create projects in their own environments
# or run the suite in another host, one after the other in one worker.
LONG = (
    "test_account_pages.py",
    "test_organization.py",
    "test_startproject.py",
    "test_node.py",
    "test_wheel.py",
    "test_fuzzed.py",
    "test_rotation.py",
    "test_servers.py",
    "test_tour.py",
    "test_every_module.py",
    "test_audit.py",
    "test_admin.py",
    "test_staff_support.py",
    "test_coming_from.py",
    "test_importers.py",
    "test_contract.py",
    "test_hosts.py",
    "test_models.py",
)

# The same on every database: tests of the sources, of texts and mails, of what is read from
# requests and from other services, of the order of the steps of a login, and of processes and
# browsers that use no database or their own.
ONCE = (
    *("architecture", "csrf", "example", "fuzz", "languages", "login_matrix", "mutations"),
    *("notification", "openapi", "outbound", "pages", "providers", "readme", "reference"),
    *("release", "testing", "verifying"),
    *("test_absent.py", "test_authorization.py", "test_bodies.py", "test_browser.py"),
    *("test_celery.py", "test_contract.py", "test_drift.py", "test_early_import.py"),
    *("test_headers.py", "test_key_file.py"),
    *("test_keys.py", "test_login_csrf.py", "test_methods.py", "test_other_process.py"),
    *("test_public_names.py", "test_redirects.py", "test_reports.py", "test_verify_browser.py"),
)
# Migrations are run on each database.
EACH = ("test_migrations.py",)


def pytest_configure(config):
    # A garbage collection after every 700 objects takes a tenth of the suite's time, and one after
    # every 50,000 still a fortieth.
    gc.set_threshold(500_000)
    # A worker runs files that follow each other, and takes over half of what another one has left
    # once it has none. With pytest-xdist's default, files are divided among the workers: each of
    # them sets up what is shared by the tests of a file, which takes a tenth of the suite's time.
    if getattr(config.option, "dist", "no") == "load":
        config.option.dist = "worksteal"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items):
    # Before `-m` selects by marker.
    for item in items:
        folder, file = item.path.parent.name, item.path.name
        if folder == "races":
            item.add_marker(needs.several_writers)
        if (folder in ONCE or file in ONCE) and file not in EACH:
            item.add_marker(pytest.mark.once)
    yield
    # Started first, so that no worker waits for the other one at the end. After pytest has grouped
    # the tests by their fixtures.
    places = {name: place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: places.get(item.path.name, len(LONG)))


def pytest_collection_finish(session):
    # In the host of another test, which has few tests, the collections that pytest makes at its end
    # take a tenth of the time. They need not walk through what is loaded by now, since it stays.
    # Hypothesis asks the collector for references, also for those that would then be left out.
    if not session.config.pluginmanager.has_plugin("hypothesispytest"):
        gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    # What a worker has left is freed with its process. pytest and the interpreter would walk
    # through it three times, for seconds in which the whole run waits.
    if hasattr(session.config, "workerinput"):
        gc.collect()
        gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def _emptied():
    with emptied.quickly():
        yield


@pytest.fixture(autouse=True, scope="session")
def _counted_readings():
    with readings.counted():
        yield


@pytest.fixture(autouse=True, scope="session")
def _receivers_of_installed_apps():
    with installed.receivers_of_installed_apps():
        yield


@pytest.fixture(scope="session")
def shared_chromium(live_server, tmp_path_factory):
    """Starts once in a worker, for tests that need no profile or switches of their own. They use
    it by `browser.lent`. Ends before the server, which would leave its connections open."""
    # Not all workers need Selenium, and no host.
    from tests.support import browser

    folder = tmp_path_factory.mktemp("chromium")
    with browser.chromium(folder, browser.SHARED) as opened:
        yield opened


@pytest.fixture
def api() -> Api:
    return Api()


@pytest.fixture
def robust() -> Api:
    """An API client that returns the response to a crash instead of raising the exception."""
    return Api(raising=False)


@pytest.fixture(autouse=True)
def _around():
    """What holds around every test, in one fixture: each one more takes seconds of the suite.

    One call of a rule reads the clock once. A test that installs an app leaves none of its audit
    actions to another test. The flood counters are reset before each test. The middleware of
    Django leaves its language to the thread, here that of all tests.
    """
    with readings.once_a_call(), patch.dict(actions.ACTIONS):
        caches["default"].clear()
        yield
        translation.deactivate()


@pytest.fixture
def configure(settings):
    """`configure(CORE={"ALLOW_SIGNUP": False})` changes keys of AUTHSERVICE for one test."""

    def change(**keys):
        settings.AUTHSERVICE = {**settings.AUTHSERVICE, **keys}

    return change


@pytest.fixture
def no_login_receivers():
    """Only Django's own receiver listens to logins, as in a host without other receivers."""
    hearing = user_logged_in.receivers[:]
    user_logged_in.receivers[:] = [it for it in hearing if it[0][0] == "update_last_login"]
    assert len(user_logged_in.receivers) == 1
    yield
    user_logged_in.receivers[:] = hearing


class NoFactor(SecondFactor):
    """A second factor that nobody has."""

    def ask(self, arrival):
        return None

    def is_enabled(self, person):
        return False


@pytest.fixture
def ungated(no_login_receivers):
    """No module gates logins or stores data of users, to count the queries of the rest."""
    with ExitStack() as kept:
        kept.enter_context(modules.plugged("second_factor", NoFactor()))
        kept.enter_context(modules.plugged("account_access", AccountAccess()))
        yield


class Clock:
    """A clock that advances with each reading, as a real one does, and when a test moves it.

    Two readings in one request therefore differ, and what depends on their being equal fails.
    """

    STEP = timedelta(milliseconds=1)

    def __init__(self, traveller):
        self._traveller, self._step = traveller, self.STEP
        traveller.move_to(datetime(2030, 1, 1, 12, tzinfo=UTC), tick=False)

    def forward(self, **duration):
        self._traveller.shift(timedelta(**duration))

    def stand_still(self):
        """From now on only the test moves the clock. A caller says why that is necessary."""
        self._step = timedelta()

    def advance(self):
        self._traveller.shift(self._step)


@pytest.fixture
def clock(time_machine) -> Iterator[Clock]:
    moved, read = Clock(time_machine), source._read

    def read_and_advance():
        reading = read()
        moved.advance()
        return reading

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(source, "_read", read_and_advance)
        yield moved


@pytest.fixture
def received():
    """`received(signal)` returns a list to which each later event of the signal is added."""
    connected = []

    def listen(signal):
        events = []

        def receive(event, **_):
            events.append(event)

        signal.connect(receive, weak=False)
        connected.append((signal, receive))
        return events

    yield listen
    for signal, receive in connected:
        signal.disconnect(receive)
