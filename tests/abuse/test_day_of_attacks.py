"""A day of attacks from a thousand addresses and from the owner's network does not lock users
out."""

from itertools import count

import pytest

from authservice.kernel import message_queue, modules
from tests import hashing
from tests.client import PASSWORD
from tests.people import has
from tests.recovery.flows import NEW, PHONE, CommittingApi, prove
from tests.recovery.post import office

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
ANN = "ann@example.com"
HOME = "192.0.2.10"
DAY, STEP = 24 * 60, 15  # minutes
UNKNOWN = "nobody@example.com"


@pytest.fixture(autouse=True)
def post():
    office.jobs.clear()
    office.can_sms = True
    with modules.plugged("messenger", office):
        yield office


class Siege:
    """What attackers send in each quarter of an hour, and what the owner does from home."""

    def __init__(self, api, clock, device):
        self.api, self.clock, self.device = api, clock, device
        self._addresses = (f"203.0.{number // 250 % 4}.{number % 250}" for number in count())

    def strangers(self):
        """Nine guesses at each identifier, so that no wait grows; codes and mails."""
        names = [{"email": ANN}, {"username": "ann"}] if has("username") else [{"email": ANN}]
        for name in names:
            for _ in range(9):
                self._send("login", password="wrong", **name)
        for _ in range(5):
            self._send("reset-password", phone=PHONE, code="123456", new_password=NEW)
        self._send("forgot-password", email=ANN)
        self._send("forgot-password", phone=PHONE)

    def neighbours(self):
        """Clients behind the owner's address use up its limit of guesses."""
        while self._post("login", HOME, email=UNKNOWN, password="wrong").status != 429:
            pass

    def owner(self, path, **body):
        headers = {"X-Device-Token": self.device}
        return self.api.request("POST", path, body, headers=headers, REMOTE_ADDR=HOME)

    def _send(self, path, **body):
        return self._post(path, next(self._addresses), **body)

    def _post(self, path, address, **body):
        return self.api.request("POST", path, body, REMOTE_ADDR=address)


@pytest.fixture
def siege(clock):
    api = CommittingApi()
    api.sign_up(ANN, phone_number=PHONE, **({"username": "ann"} if has("username") else {}))
    prove(ANN, PHONE)
    known = api.post("login", email=ANN, password=PASSWORD)
    return Siege(api, clock, known.headers["X-Device-Token"])


def test_known_device_logs_in_and_resets_at_the_first_try_on_a_day_of_attacks(siege, post):
    judged = 0
    for _ in range(DAY // STEP):
        with hashing.spied() as spy:
            siege.strangers()
        judged += len(spy.made)
        siege.neighbours()
        assert siege.owner("login", email=ANN, password=PASSWORD).status == 200
        siege.clock.forward(minutes=STEP)

    assert judged <= 100
    siege.strangers()
    siege.neighbours()
    post.jobs.clear()
    assert siege.owner("forgot-password", phone=PHONE).status == 200
    code = post.code(message_queue.RESET_BY_CODE)
    siege.strangers()
    reset = siege.owner("reset-password", phone=PHONE, code=code, new_password=NEW)
    assert reset.status == 200
    siege.device = reset.headers["X-Device-Token"]
    siege.strangers()
    assert siege.owner("login", email=ANN, password=NEW).status == 200


def test_unknown_device_gets_in_by_a_mailed_link_after_a_day_of_attacks(siege, post):
    for _ in range(DAY // STEP):
        siege.strangers()
        siege.clock.forward(minutes=STEP)
    siege.strangers()

    links = [job for job in post.jobs if job.kind == message_queue.RESET_BY_LINK]
    assert links  # the owner's mailbox has a link, also one that an attacker requested
    token = post.token(message_queue.RESET_BY_LINK)
    body = {"token": token, "email": ANN, "new_password": NEW}
    address = {"REMOTE_ADDR": "198.51.100.7"}
    assert siege.api.request("POST", "reset-password", body, **address).status == 200
    # A reset clears the attempts of attackers.
    body = {"email": ANN, "password": NEW}
    assert siege.api.request("POST", "login", body, **address).status == 200
