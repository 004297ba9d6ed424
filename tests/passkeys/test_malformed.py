"""Bodies that no browser sends are refused with 400 or 401, and nothing raises.

The default run tries two hundred; `-m slow` a hundred thousand by the API, in four parts that run
beside each other, and a hundred thousand by the verification alone, which reads them.
"""

import base64
import contextlib
import json
import logging
import random
from copy import deepcopy
from functools import partial

import pytest
from django.test import Client
from fido2 import cbor
from fido2.utils import websafe_encode

from authservice.passkeys import relying_party
from authservice.passkeys.models import Passkey
from tests.passkeys.authenticator import Authenticator
from tests.passkeys.test_second_verifier import OPTIONS

pytestmark = pytest.mark.django_db
REFUSED = {400, 401, 403, 409, 413}
ODD = (
    *(None, True, 0, -1, 2**70, 1.5, "", "A", "====", "\u0301", [], {}, [[]], {"a": {}}),
    *("A" * 2668, "a" * 40_000, ["usb"] * 100, "\x00", "public-key", {"type": "Buffer"}),
)
_CBOR = (
    b"\xff",
    b"\x9f" * 30,
    b"\xbf",
    b"\xa2\x01\x01\x01\x01",
    b"\x5b" + b"\xff" * 8,
    b"\xf9\x7e\x00",
)


def mutated(credential, chance):
    """The credential with one to three changes of its values or of the bytes in them."""
    changed = json.loads(json.dumps(credential))
    for _ in range(chance.randint(1, 3)):
        place = chance.choice([changed, changed.get("response")])
        if not isinstance(place, dict) or not place:
            continue
        name = chance.choice(sorted(place))
        value = place[name]
        if isinstance(value, str) and chance.random() < 0.7:
            place[name] = _bytes_changed(value, chance)
        elif chance.random() < 0.3:
            del place[name]
        else:
            place[name] = deepcopy(chance.choice(ODD))  # a later change may change this value
    return changed


def _bytes_changed(text, chance):
    try:
        raw = bytearray(base64.urlsafe_b64decode(text + "==="))
    except ValueError:
        return text[::-1]
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(raw) + 1)
        kind = chance.randrange(4)
        if kind == 0 and at < len(raw):
            raw[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            raw[at:at] = chance.choice(_CBOR)
        elif kind == 2:
            del raw[at : at + chance.randint(1, 40)]
        else:
            raw[at:at] = raw[: chance.randint(0, 60)]
    return base64.urlsafe_b64encode(bytes(raw)).rstrip(b"=").decode()


def posted(client, path, body, token):
    """Without what the API of the tests compares with the description: that takes a minute more."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    given = {"content_type": "application/json", "headers": headers}
    return client.post(f"/auth/{path}", json.dumps(body), **given).status_code


def tried(ann, number, seed, send=None):
    def compared(path, body, token):
        return ann.api.request("POST", path, body, token=token).status

    send = send or compared
    chance = random.Random(seed)
    ann.enrol()
    begun, new = ann.login_options(), ann.options()
    signed = ann.sign(begun)
    created = {
        name: Authenticator(name).create(new["options"]) for name in ("ES256", "RS256", "EdDSA")
    }
    answers = []
    for _ in range(number):
        if chance.random() < 0.5:
            body = {**begun, "credential": mutated(signed, chance)}
            path, token = "passkeys/login", ""
        else:
            body = {**new, "credential": mutated(created[chance.choice(sorted(created))], chance)}
            path, token = "passkeys", ann.token
        body.pop("options")
        answers.append((path, body, send(path, body, token)))
    return answers


def require_refused(answers):
    """A change may leave the answer valid, such as that of a transport; each works once."""
    statuses = [status for _, _, status in answers]
    assert set(statuses) <= REFUSED | {200, 201}
    assert sum(status < 300 for status in statuses) <= 2


@pytest.fixture(autouse=True)
def _no_floods(configure):
    configure(THROTTLE={"ENABLED": False})


def test_mutated_answers_are_refused(ann):
    require_refused(tried(ann, 200, seed=1))


@pytest.fixture
def _quiet():
    """A line for each refusal would take as long as the refusal."""
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.slow
@pytest.mark.usefixtures("_quiet")
@pytest.mark.parametrize("part", range(4))
def test_hundred_thousand_mutated_answers_are_refused(ann, part):
    client = Client()
    for seed in range(2 + part, 102, 4):
        Passkey.objects.all().delete()  # an account may have twenty
        require_refused(tried(ann, 1000, seed=seed, send=partial(posted, client)))


def test_change_of_an_answer_leaves_the_next_one_as_it_is():
    chance, odd = random.Random(0), json.dumps(ODD)
    for _ in range(2000):
        mutated({"id": "AAAA", "response": {"signature": "AAAA"}}, chance)

    assert json.dumps(ODD) == odd


@pytest.mark.slow
def test_verification_refuses_a_hundred_thousand_mutated_answers_and_raises_nothing_else():
    chance = random.Random(0)
    device = Authenticator()
    created, challenge = device.create(OPTIONS), OPTIONS["challenge"]
    (credential,) = device.credentials
    key = websafe_encode(cbor.encode(credential.cose))
    signed, valid = device.get(OPTIONS), 0
    for number in range(100_000):
        with contextlib.suppress(relying_party.Unverified):
            if number % 2:
                relying_party.id_of(changed := mutated(signed, chance))
                relying_party.handle_of(changed)
                relying_party.assertion(changed, challenge, key, verification="required")
            else:
                relying_party.registration(mutated(created, chance), challenge)
            valid += 1

    # Such as a change of the transports, or of the answer's own copy of the key.
    assert 0 < valid < 50_000


@pytest.mark.parametrize("credential", [None, [], "x", 1, {}, {"response": {}}])
@pytest.mark.parametrize("path", ["passkeys/login", "passkeys"])
def test_credential_of_another_shape_is_refused(ann, path, credential):
    ann.enrol()
    begun = ann.login_options() if path == "passkeys/login" else ann.options()

    answer = ann.post(path, request_token=begun["request_token"], credential=credential)

    assert answer.status in (400, 401)


@pytest.mark.parametrize("size", [70_000, 1024 * 1024])
def test_body_beyond_the_limit_is_too_large(ann, size):
    begun = ann.login_options()

    answer = ann.post(
        "passkeys/login", request_token=begun["request_token"], credential={"id": "A" * size}
    )

    assert answer.error == (413, "REQUEST_TOO_LARGE")


def test_deep_cbor_is_refused(ann):
    begun = ann.options()
    credential = ann.device.create(begun["options"])
    deep = base64.urlsafe_b64encode(b"\x81" * 30_000).rstrip(b"=").decode()
    credential["response"]["attestationObject"] = deep

    assert ann.add(credential, begun=begun).error == (400, "PASSKEY_INVALID")


def test_deep_json_is_refused(ann):
    begun = ann.options()
    credential = ann.device.create(begun["options"])
    deep = base64.urlsafe_b64encode(b"[" * 30_000).rstrip(b"=").decode()
    credential["response"]["clientDataJSON"] = deep

    assert ann.add(credential, begun=begun).error == (400, "PASSKEY_INVALID")
