"""What the modules of the tests plug in."""

from authservice.kernel import errors
from authservice.kernel.ports import Challenge

kept = []
sent = []


def keep(event):
    kept.append(event.action)


def refuse_to_keep(event):
    raise RuntimeError("the entry cannot be written")


def ask(person, proofs):
    if "otp" in proofs:
        return None
    return Challenge("2fa", {"requires_2fa": True, "proofs": list(proofs)})


def claim(person, sign_in):
    return {"org_id": "7", "sub": "root", "aud": "other", "exp": 9_999_999_999, "ver": 99}


def hook(user):
    return {"plan": "gold", "sub": "root", "iss": "me", "typ": "refresh", "sid": "x", "amr": []}


def extras(person):
    return {"organizations": []}


def guard(request):
    if request.headers.get("X-Guard") != "pass":
        raise errors.Forbidden


def admit_nobody(person, sign_in):
    raise errors.InvalidToken


class Recorder:
    can_sms = False

    def send(self, message):
        sent.append(message)


messenger = Recorder()
