"""The functions and objects with which the modules of `apps` fill their slots."""

from datetime import timedelta
from typing import TypedDict

from authservice.kernel import errors
from authservice.kernel.interfaces import Challenge, Lifetimes, refuses

recorded = []
sent = []


def record(event):
    recorded.append(event.action)


def fail(event):
    raise RuntimeError("the entry cannot be written")


def challenge(arrival):
    if "mfa" in arrival.proofs:
        return None
    message = f"{arrival.method} by {' '.join(arrival.proofs)} with {arrival.client.user_agent}"
    data = {"temp_token": "t" * 43, "user_id": arrival.person.id, "message": message}
    return Challenge("2fa", {"requires_2fa": True, **data})


def claim(person, session):
    return {"org_id": "7", "sub": "root", "aud": "other", "exp": 9_999_999_999, "ver": 99}


def hook(user):
    return {"plan": "gold", "sub": "root", "iss": "me", "typ": "refresh", "sid": "x", "amr": []}


class Organizations(TypedDict):
    organizations: list[str]


def extras(person, kept) -> Organizations:
    return {"organizations": []}


@refuses(errors.Forbidden)
def guard(request, session_id):
    if request.headers.get("X-Guard") != "pass":
        raise errors.Forbidden


@refuses(errors.ServiceUnavailable)
class Policy:
    """A login policy whose result a test sets, and which records the arguments of its calls."""

    def __init__(self):
        self.verdict, self.away, self.calls = True, False, []

    def ended(self, ids):
        self.calls.append(list(ids))

    def checks_every_request(self):
        return True

    def lifetimes(self):
        return Lifetimes(timedelta(minutes=30), timedelta(hours=2))

    def begin(self, person, session, client):
        self.calls.append(person.id)

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
