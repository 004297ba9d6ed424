"""What the modules of the tests plug in."""

from typing import TypedDict

from authservice.kernel import errors
from authservice.kernel.ports import Challenge, refuses

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


def claim(person, sign_in):
    return {"org_id": "7", "sub": "root", "aud": "other", "exp": 9_999_999_999, "ver": 99}


def hook(user):
    return {"plan": "gold", "sub": "root", "iss": "me", "typ": "refresh", "sid": "x", "amr": []}


class Organizations(TypedDict):
    organizations: list[str]


def extras(person) -> Organizations:
    return {"organizations": []}


@refuses(errors.Forbidden)
def guard(request, sign_in_id):
    if request.headers.get("X-Guard") != "pass":
        raise errors.Forbidden


def admit_nobody(person, sign_in):
    raise errors.InvalidToken


class Recorder:
    can_sms = False

    def send(self, message):
        sent.append(message)


messenger = Recorder()
