"""The functions and objects with which the modules of `apps` fill their slots."""

from datetime import timedelta
from typing import TypedDict

from authservice.kernel import errors
from authservice.kernel.events import EventListener
from authservice.kernel.interfaces import (
    Challenge,
    Lifetimes,
    LoginPolicy,
    RequestGuard,
    SecondFactor,
    SessionData,
)
from authservice.kernel.message_queue import Messenger

recorded = []
sent = []


class Recording(EventListener):
    def record(self, event):
        recorded.append(event.action)


class Failing(EventListener):
    def record(self, event):
        raise RuntimeError("the entry cannot be written")


record, fail = Recording(), Failing()


class Misspelled(EventListener):
    """Its method is never called, since core calls `record`."""

    def recrod(self, event):
        recorded.append(event.action)


misspelled = Misspelled()


class Factor(SecondFactor):
    def ask(self, arrival):
        if "mfa" in arrival.proofs:
            return None
        message = f"{arrival.method} by {' '.join(arrival.proofs)} with {arrival.client.user_agent}"
        data = {"temp_token": "t" * 43, "user_id": arrival.person.id, "message": message}
        return Challenge("2fa", {"requires_2fa": True, **data})

    def is_enabled(self, person):
        return False


class CalledPassword(Factor):
    method = "password"


class CalledByTwoNames(Factor):
    method = "sms,call"


factor = Factor()
called_password, called_by_two_names = CalledPassword(), CalledByTwoNames()


class Claims(SessionData):
    def claims(self, person, session):
        return {"org_id": "7", "sub": "root", "aud": "other", "exp": 9_999_999_999, "ver": 99}


claims = Claims()


def hook(user):
    return {"plan": "gold", "sub": "root", "iss": "me", "typ": "refresh", "sid": "x", "amr": []}


class Organizations(TypedDict):
    organizations: list[str]


class Extras(SessionData):
    def extras(self, person, current_session) -> Organizations:
        return {"organizations": []}


extras = Extras()


class Guard(RequestGuard):
    faults = (errors.Forbidden,)

    def check(self, request, session_id, *, bearer):
        if request.headers.get("X-Guard") != "pass":
            raise errors.Forbidden


guard = Guard()


class Policy(LoginPolicy):
    """A login policy whose result a test sets, and which records the arguments of its calls."""

    faults = (errors.ServiceUnavailable,)

    def __init__(self):
        self.verdict, self.away, self.calls = True, False, []

    def ended(self, ids):
        self.calls.append(list(ids))

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


class Recorder(Messenger):
    can_sms = False

    def send(self, message):
        sent.append(message)


messenger = Recorder()
