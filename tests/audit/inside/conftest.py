from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from django.test import TestCase

from tests.audit.months import make_plain
from tests.audit.staff import Browser
from tests.audit.world import ANN, BOB, NamedApi, World
from tests.support.messenger.post import Post, receiving_jobs
from tests.support.people import make_user, the_user


class CommittingApi(NamedApi):
    """Each request runs its on-commit callbacks."""

    def request(self, *args, **options):
        with TestCase.captureOnCommitCallbacks(execute=True):
            return super().request(*args, **options)


@pytest.fixture
def api():
    return CommittingApi()


@pytest.fixture(autouse=True)
def post() -> Iterator[Post]:
    """The messenger that receives the jobs."""
    with receiving_jobs() as post:
        yield post


@pytest.fixture
def world(api, post, configure, db):
    configure(THROTTLE={"ENABLED": False})
    with ExitStack() as leave:
        yield World(api, post, configure_more(configure), leave)


@pytest.fixture
def plain_table(transactional_db):
    """Afterwards the table is as migrations made it."""
    yield
    make_plain()


@pytest.fixture
def superuser(world):
    """A Django superuser with a browser in Django admin."""
    user = make_user("superuser@example.com", is_staff=True, is_superuser=True)
    world.names[str(user.pk)] = "superuser"
    world.forget()
    return Browser(user)


def configure_more(configure):
    """Like `configure`, but keeps the settings of earlier calls."""
    kept = {"THROTTLE": {"ENABLED": False}}

    def change(**keys):
        kept.update(keys)
        configure(**kept)

    return change


@pytest.fixture
def root(world):
    """Creates the super admin before the test."""
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
    """`ask("me/audit", limit=5)` sends a request as Ann, or as Root to routes for super admins."""

    def ask(path, **query):
        path = path.format(ann=world.ann_id)
        token = world.root.token if path.startswith("admin") else world.token
        text = "&".join(f"{name}={value}" for name, value in query.items())
        return world.api.get(f"{path}?{text}", token=token)

    return ask


@pytest.fixture
def listed(ask):
    """The rows of a list."""
    return lambda path, **query: ask(path, **query).data["list"]


@pytest.fixture
def actions(listed):
    return lambda path, **query: [row["action"] for row in listed(path, **query)]
