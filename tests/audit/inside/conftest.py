from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from django.test import TestCase

from authservice.kernel import modules
from tests.audit.staff import Browser
from tests.audit.world import ANN, BOB, Named, World
from tests.people import make_user, the_user
from tests.recovery.post import Post, office


class Committing(Named):
    """Each request commits what it did, as far as anybody waits for the commit."""

    def request(self, *args, **options):
        with TestCase.captureOnCommitCallbacks(execute=True):
            return super().request(*args, **options)


@pytest.fixture
def api():
    return Committing()


@pytest.fixture(autouse=True)
def post() -> Iterator[Post]:
    """Who takes the jobs."""
    office.jobs.clear()
    office.can_sms = True
    with modules.plugged("messenger", office):
        yield office


@pytest.fixture
def world(api, post, configure, db):
    configure(THROTTLE={"ENABLED": False})
    with ExitStack() as leave:
        yield World(api, post, configure_more(configure), leave)


@pytest.fixture
def boss(world):
    """A superuser of the project, in Django admin."""
    user = make_user("boss@example.com", is_staff=True, is_superuser=True)
    world.names[str(user.pk)] = "boss"
    world.forget()
    return Browser(user)


def configure_more(configure):
    """As many changes of the settings as a deed wants."""
    kept = {"THROTTLE": {"ENABLED": False}}

    def change(**keys):
        kept.update(keys)
        configure(**kept)

    return change


@pytest.fixture
def root(world):
    """The super admin is there already."""
    return world.root


@pytest.fixture
def ann(world):
    return the_user(ANN)


@pytest.fixture
def bob(world):
    world.bob  # noqa: B018 signs up
    world.forget()
    return the_user(BOB)


@pytest.fixture
def ask(world):
    """`ask("me/audit", limit=5)` is the answer to Ann, or to Root where only she may ask."""

    def ask(path, **query):
        path = path.format(ann=world.ann_id)
        token = world.root.token if path.startswith("admin") else world.token
        text = "&".join(f"{name}={value}" for name, value in query.items())
        return world.api.get(f"{path}?{text}", token=token)

    return ask


@pytest.fixture
def listed(ask):
    """The rows that a list has."""
    return lambda path, **query: ask(path, **query).data["list"]


@pytest.fixture
def actions(listed):
    return lambda path, **query: [row["action"] for row in listed(path, **query)]
