import pytest

# Its views name permissions of the roles in the settings, and a test may begin with other roles.
import tests.organization.urls  # noqa: F401
from tests.organization.inside.people import Person, join
from tests.organization.settings import ROLES
from tests.support.flows import CommittingApi
from tests.support.messenger.post import Post, office
from tests.support.slots import Listener


@pytest.fixture(autouse=True)
def post() -> Post:
    """The test messenger, which keeps the queued jobs."""
    office.jobs.clear()
    office.can_sms = True
    return office


@pytest.fixture
def api():
    return CommittingApi()


@pytest.fixture
def ann(api) -> Person:
    return Person(api, "ann")


@pytest.fixture
def bob(api) -> Person:
    return Person(api, "bob")


@pytest.fixture
def eve(api) -> Person:
    return Person(api, "eve")


@pytest.fixture
def no_floods(configure):
    """Disables the limits on mails and invitations."""
    configure(THROTTLE={"ENABLED": False})


@pytest.fixture
def acme(ann) -> str:
    """The id of an organization that Ann owns."""
    return ann.found("Acme")


@pytest.fixture
def member(acme, bob) -> Person:
    """Bob as a member of that organization."""
    join(acme, bob)
    return bob


@pytest.fixture
def events(monkeypatch):
    """`events()` lists the recorded events of organizations, in order."""
    recorded = []
    monkeypatch.setattr(
        "authservice.kernel.events.plugs", lambda slot: (Listener(recorded.append),)
    )

    def named(prefix="org."):
        return [event for event in recorded if event.action.startswith(prefix)]

    return named


@pytest.fixture
def organization(configure):
    """`organization(MAX_MEMBERS=2)` sets keys of the ORGANIZATION section."""

    def change(**keys):
        configure(ORGANIZATION={"ROLES": ROLES, **keys})

    return change


@pytest.fixture
def accept(api):
    """`accept(token, name=…)` accepts an invitation, signed in as `person` if one is given."""

    def send(token, person=None, **body):
        sender = person.token if person else ""
        return api.request("POST", "org/invitations/accept", {"token": token, **body}, token=sender)

    return send
