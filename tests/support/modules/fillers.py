"""What the modules of the tests plug in."""

from datetime import timedelta
from typing import TypedDict

from authservice.kernel import errors
from authservice.kernel.interfaces import Challenge, Lifetimes, refuses

kept = []
sent = []


def keep(event):
    kept.append(event.action)


def refuse_to_keep(event):
    raise RuntimeError("the entry cannot be written")


def ask(arrival):
    if "mfa" in arrival.proofs:
        return None
    told = f"{arrival.method} by {' '.join(arrival.proofs)} with {arrival.client.user_agent}"
    said = {"temp_token": "t" * 43, "user_id": arrival.person.id, "message": told}
    return Challenge("2fa", {"requires_2fa": True, **said})


def claim(person, session):
    return {"org_id": "7", "sub": "root", "aud": "other", "exp": 9_999_999_999, "ver": 99}


def hook(user):
    return {"plan": "gold", "sub": "root", "iss": "me", "typ": "refresh", "sid": "x", "amr": []}


class Organizations(TypedDict):
    organizations: list[str]


def extras(person) -> Organizations:
    return {"organizations": []}


@refuses(errors.Forbidden)
def guard(request, session_id):
    if request.headers.get("X-Guard") != "pass":
        raise errors.Forbidden


@refuses(errors.ServiceUnavailable)
class Policy:
    """A login policy whose verdicts a test sets, and which notes what it is told."""

    def __init__(self):
        self.verdict, self.away, self.told = True, False, []

    def ended(self, ids):
        self.told.append(list(ids))

    def checks_every_request(self):
        return True

    def lifetimes(self):
        return Lifetimes(timedelta(minutes=30), timedelta(hours=2))

    def begin(self, person, session, client, *, held):
        self.told.append((person.id, held))

    def alive(self, session):
        if self.away:
            raise errors.ServiceUnavailable
        return self.verdict

    use = alive


policy = Policy()


class Recorder:
    can_sms = False

    def send(self, message):
        sent.append(message)


messenger = Recorder()
