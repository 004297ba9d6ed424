"""A day of attacks from a thousand addresses and from the network of the owner does not lock
the owner out."""

from itertools import count

import pytest

from authservice.core.messages import kinds
from tests.support import hashing
from tests.support.client import PASSWORD
from tests.support.flows import NEW, PHONE, CommittingApi, prove
from tests.support.messenger.post import receiving_jobs
from tests.support.people import has

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
ANN = "ann@example.com"
HOME = "192.0.2.10"
DAY, STEP = 24 * 60, 15  # minutes
UNKNOWN = "nobody@example.com"


@pytest.fixture(autouse=True)
def post():
    with receiving_jobs() as post:
        yield post


class Attack:
    """The requests of attackers in each quarter of an hour, and those of the owner from home."""

    def __init__(self, api, clock, device):
        self.api, self.clock, self.device = api, clock, device
        self._addresses = (f"203.0.{number // 250 % 4}.{number % 250}" for number in count())

    def attackers(self):
        """Nine attempts at each identifier, so that no wait grows; codes and e-mails."""
        names = [{"email": ANN}, {"username": "ann"}] if has("username") else [{"email": ANN}]
        for name in names:
            for _ in range(9):
                self._send("login", password="wrong", **name)
        for _ in range(5):
            self._send("reset-password", phone=PHONE, code="123456", new_password=NEW)
        self._send("forgot-password", email=ANN)
        self._send("forgot-password", phone=PHONE)

    def neighbours(self):
        """Clients behind the address of the owner exhaust its limit of attempts."""
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
def attack(clock):
    api = CommittingApi()
    api.sign_up(ANN, phone_number=PHONE, **({"username": "ann"} if has("username") else {}))
    prove(ANN, PHONE)
    known = api.post("login", email=ANN, password=PASSWORD)
    return Attack(api, clock, known.headers["X-Device-Token"])


def test_known_device_logs_in_and_resets_at_first_attempt_during_day_of_attacks(attack, post):
    hashed = 0
    for _ in range(DAY // STEP):
        with hashing.spied() as spy:
            attack.attackers()
        hashed += len(spy.made)
        attack.neighbours()
        assert attack.owner("login", email=ANN, password=PASSWORD).status == 200
        attack.clock.forward(minutes=STEP)

    assert hashed <= 100
    attack.attackers()
    attack.neighbours()
    post.jobs.clear()
    assert attack.owner("forgot-password", phone=PHONE).status == 200
    code = post.code(kinds.RESET_BY_CODE)
    attack.attackers()
    reset = attack.owner("reset-password", phone=PHONE, code=code, new_password=NEW)
    assert reset.status == 200
    attack.device = reset.headers["X-Device-Token"]
    attack.attackers()
    assert attack.owner("login", email=ANN, password=NEW).status == 200


def test_unknown_device_logs_in_by_mailed_link_after_day_of_attacks(attack, post):
    for _ in range(DAY // STEP):
        attack.attackers()
        attack.clock.forward(minutes=STEP)
    attack.attackers()

    links = [job for job in post.jobs if job.kind == kinds.RESET_BY_LINK]
    assert links  # the mailbox of the owner has a link, possibly one that an attacker requested
    token = post.token(kinds.RESET_BY_LINK)
    body = {"token": token, "email": ANN, "new_password": NEW}
    address = {"REMOTE_ADDR": "198.51.100.7"}
    assert attack.api.request("POST", "reset-password", body, **address).status == 200
    # A reset clears the attempts of attackers.
    body = {"email": ANN, "password": NEW}
    assert attack.api.request("POST", "login", body, **address).status == 200
