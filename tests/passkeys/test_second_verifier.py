"""Two verifiers of every answer: this service and the server of `fido2`. Both accept what an honest
device and browser send, and refuse it when one part is changed. What only one of them refuses is in
a table, with the reason."""

import hashlib
import json

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from fido2 import cbor
from fido2.server import Fido2Server
from fido2.utils import websafe_decode, websafe_encode
from fido2.webauthn import AttestedCredentialData, PublicKeyCredentialRpEntity

from authservice.passkeys import relying_party
from tests.passkeys.authenticator import BE, BS, ED, ORIGIN, UP, UV, Authenticator, Credential
from tests.passkeys.people import finish_login

DOMAIN = "testserver"
ENTITY = PublicKeyCredentialRpEntity(id=DOMAIN, name="Test")
CHALLENGE = websafe_encode(b"c" * 32)
OPTIONS = {
    "challenge": CHALLENGE,
    "rp": {"id": DOMAIN},
    "rpId": DOMAIN,
    "user": {"id": websafe_encode(b"h" * 64)},
    "allowCredentials": [],
}
STATE = {"challenge": CHALLENGE, "user_verification": "required"}
REGISTERED, ASSERTED = "registration", "assertion"


@pytest.fixture
def server():
    return Fido2Server(ENTITY, verify_origin=lambda origin: origin == ORIGIN)


def ours(kind, answer, key=None):
    try:
        if kind == REGISTERED:
            return relying_party.registration(answer, CHALLENGE).verified
        return bool(relying_party.assertion(answer, CHALLENGE, key, verification="required"))
    except relying_party.Unverified:
        return False


def theirs(server, kind, answer, data=None):
    try:
        if kind == REGISTERED:
            server.register_complete(STATE, response=answer)
        else:
            server.authenticate_complete(STATE, [data], response=answer)
    except Exception:
        return False
    return True


class Device:
    """A device with one passkey, in the forms that both verifiers store it."""

    def __init__(self, algorithm="ES256"):
        self.device = Authenticator(algorithm)
        self.created = self.device.create(OPTIONS)
        (self.credential,) = self.device.credentials
        cose = cbor.encode(self.credential.cose)
        self.key = websafe_encode(cose)
        length = len(self.credential.id).to_bytes(2, "big")
        self.data = AttestedCredentialData(bytes(16) + length + self.credential.id + cose)

    def both(self, server, kind, answer):
        return (
            ours(kind, answer, self.key),
            theirs(server, kind, answer, self.data),
        )


@pytest.mark.parametrize("algorithm", ["ES256", "RS256", "EdDSA"])
def test_both_accept_honest_answers(server, algorithm):
    device = Device(algorithm)

    assert device.both(server, REGISTERED, device.created) == (True, True)
    assert device.both(server, ASSERTED, device.device.get(OPTIONS)) == (True, True)


def changed(answer, name, change):
    """The answer with one of its binary values changed."""
    raw = change(websafe_decode(answer["response"][name]))
    return {**answer, "response": {**answer["response"], name: websafe_encode(raw)}}


def flipped(raw, at=-1):
    return raw[:at] + bytes([raw[at] ^ 1]) + (raw[at + 1 :] if at != -1 else b"")


def of_creation(**change):
    return lambda device: (REGISTERED, device.device.create(OPTIONS, **change))


def of_signature(**change):
    return lambda device: (ASSERTED, device.device.get(OPTIONS, **change))


def with_key(**members):
    """A key whose COSE members are changed."""

    def make(device):
        cose = {**device.credential.cose, **{int(n): it for n, it in members.items()}}
        return REGISTERED, device.device.create(OPTIONS, cose=cose)

    return make


def replaced(kind, name, change):
    def make(device):
        answer = device.created if kind == REGISTERED else device.device.get(OPTIONS)
        return kind, changed(answer, name, change)

    return make


def duplicated(kind):
    """JSON in which the challenge is named twice: a wrong one first."""

    def change(raw):
        return b'{"challenge": "d3Jvbmc",' + raw[1:]

    def make(device):
        if kind == REGISTERED:
            return kind, changed(device.created, "clientDataJSON", change)
        answer = device.device.get(OPTIONS)
        answer = changed(answer, "clientDataJSON", change)
        client = websafe_decode(answer["response"]["clientDataJSON"])
        raw = websafe_decode(answer["response"]["authenticatorData"])
        signature = device.credential.sign(raw + hashlib.sha256(client).digest())
        answer["response"]["signature"] = websafe_encode(signature)
        return kind, answer

    return make


def formed(kind, change):
    """The answer with other members, such as an id that is no text."""

    def make(device):
        answer = device.created if kind == REGISTERED else device.device.get(OPTIONS)
        return kind, {**answer, **(change(answer) if callable(change) else change)}

    return make


def with_id_of(size):
    key = ec.generate_private_key(ec.SECP256R1())
    credential = Credential(b"i" * size, key, "ES256")
    return of_creation(credential=credential)


def padded(answer):
    return {"id": answer["id"] + "=", "rawId": answer["id"] + "="}


def with_two_formats(raw):
    """CBOR that names the format of the statement twice."""
    return bytes([raw[0] + 1]) + cbor.encode("fmt") + cbor.encode("packed") + raw[1:]


def with_two_types(device):
    """A COSE key whose first member, its type, is there twice: as one of RSA first."""
    cose = cbor.encode(device.credential.cose)
    twice = bytes([cose[0] + 1]) + cbor.encode(1) + cbor.encode(3) + cose[1:]

    def change(raw):
        read = cbor.decode(raw)
        assert read["authData"].endswith(cose)
        return cbor.encode({**read, "authData": read["authData"].removesuffix(cose) + twice})

    return REGISTERED, changed(device.created, "attestationObject", change)


LONG = "A" * 2668  # 2,000 bytes


def trailing(raw):
    return raw + b"\x00"


def with_unknown_statement(raw):
    return cbor.encode({**cbor.decode(raw), "more": 1})


OTHER_CHALLENGE = {"challenge": websafe_encode(b"x" * 32)}
P384 = ec.generate_private_key(ec.SECP384R1()).public_key().public_numbers()
BOTH_REFUSE = {
    "registration: challenge": of_creation(client=OTHER_CHALLENGE),
    "registration: origin": of_creation(client={"origin": "https://evil.example"}),
    "registration: no origin": of_creation(client={"origin": None}),
    "registration: type": of_creation(client={"type": "webauthn.get"}),
    "registration: domain": of_creation(rp_id="evil.example"),
    "registration: user not present": of_creation(flags=UV),
    "registration: user not verified": of_creation(flags=UP),
    "registration: client data that is no JSON": replaced(
        REGISTERED, "clientDataJSON", lambda raw: raw[:-1]
    ),
    "registration: bytes after the authenticator data": of_creation(tail=b"\x00"),
    "registration: no attested credential": replaced(
        REGISTERED,
        "attestationObject",
        lambda raw: cbor.encode(
            {**cbor.decode(raw), "authData": cbor.decode(raw)["authData"][:37]}
        ),
    ),
    "registration: bytes after the attestation": replaced(
        REGISTERED, "attestationObject", trailing
    ),
    "registration: no id": formed(REGISTERED, {"id": None}),
    "registration: other rawId": formed(REGISTERED, {"rawId": websafe_encode(b"other" * 4)}),
    "registration: no response": formed(REGISTERED, {"response": None}),
    "registration: response that is a list": formed(REGISTERED, {"response": []}),
    "assertion: no id": formed(ASSERTED, {"id": None}),
    "assertion: other rawId": formed(ASSERTED, {"rawId": websafe_encode(b"other" * 4)}),
    "assertion: no response": formed(ASSERTED, {"response": None}),
    "assertion: response that is a list": formed(ASSERTED, {"response": []}),
    # No passkey has it.
    "assertion: id of 2,000 bytes": formed(ASSERTED, {"id": LONG, "rawId": LONG}),
    "assertion: id that is a number": formed(ASSERTED, {"id": 1, "rawId": 1}),
    "assertion: challenge": of_signature(client=OTHER_CHALLENGE),
    "assertion: origin": of_signature(client={"origin": "https://evil.example"}),
    "assertion: subdomain": of_signature(client={"origin": "http://a.testserver"}),
    "assertion: type": of_signature(client={"type": "webauthn.create"}),
    "assertion: domain": of_signature(rp_id="evil.example"),
    "assertion: user not present": of_signature(flags=UV),
    "assertion: user not verified": of_signature(flags=UP),
    "assertion: bytes after the authenticator data": of_signature(tail=b"\x00"),
    "assertion: signature": replaced(ASSERTED, "signature", flipped),
    "assertion: no signature": replaced(ASSERTED, "signature", lambda raw: b""),
    "assertion: counter changed after signing": replaced(
        ASSERTED, "authenticatorData", lambda raw: flipped(raw)
    ),
    "assertion: flags changed after signing": replaced(
        ASSERTED, "authenticatorData", lambda raw: raw[:32] + bytes([UP | UV | BE]) + raw[33:]
    ),
    "assertion: client data changed after signing": replaced(
        ASSERTED, "clientDataJSON", lambda raw: raw.replace(b"{", b"{ ", 1)
    ),
    "assertion: key of another passkey": lambda device: (
        ASSERTED,
        {
            **Authenticator(credentials=[other(device)]).get(OPTIONS),
            "id": websafe_encode(device.credential.id),
            "rawId": websafe_encode(device.credential.id),
        },
    ),
}


def other(device):
    """A passkey with the id of the device's and another key."""
    key = ec.generate_private_key(ec.SECP256R1())
    return Credential(device.credential.id, key, "ES256")


# What the server of `fido2` accepts, and why this service does not.
ONLY_WE_REFUSE = {
    "registration: frame of another site": (
        of_creation(client={"crossOrigin": True}),
        "the page of the other site could lay itself over the dialogue; fido2 leaves it to callers",
    ),
    "assertion: frame of another site": (of_signature(client={"crossOrigin": True}), "the same"),
    "assertion: topOrigin": (
        of_signature(client={"topOrigin": "https://evil.example"}),
        "the same; browsers send it only from such a frame",
    ),
    "registration: duplicate JSON keys": (
        duplicated(REGISTERED),
        "fido2 takes the last of two equal keys, as Python does; another reader takes the first",
    ),
    "assertion: duplicate JSON keys": (duplicated(ASSERTED), "the same"),
    "registration: backed up but not eligible": (
        of_creation(flags=UP | UV | BS),
        "section 6.1 forbids the combination; fido2 does not look at it",
    ),
    "assertion: backed up but not eligible": (of_signature(flags=UP | UV | BS), "the same"),
    "registration: curve of another algorithm": (
        with_key(**{"-1": 2}),
        "ES256 is used with P-256 only (section 5.8.5); fido2 notices at the first login",
    ),
    "registration: point that is not on the curve": (
        with_key(**{"-2": b"\x01" * 32}),
        "the key could never sign; fido2 notices at the first login",
    ),
    "registration: algorithm that was not offered": (
        with_key(**{"3": -65535}),
        "SHA-1 is not offered; fido2 leaves the choice to callers",
    ),
    "registration: attestation cut off": (
        replaced(REGISTERED, "attestationObject", lambda raw: raw[:-3]),
        "fido2 reads a text that ends early as a shorter one",
    ),
    "registration: unknown member of the attestation": (
        replaced(REGISTERED, "attestationObject", with_unknown_statement),
        "section 6.5.4 has three members; fido2 ignores others",
    ),
    "registration: duplicate CBOR keys": (
        replaced(REGISTERED, "attestationObject", with_two_formats),
        "fido2 takes the last of two equal keys; another reader takes the first",
    ),
    "registration: duplicate CBOR keys in the public key": (with_two_types, "the same"),
    "assertion: duplicate CBOR keys in the extensions": (
        of_signature(flags=UP | UV | ED, tail=b"\xa2\x61x\x01\x61x\x02"),
        "the same",
    ),
    "registration: id of 1,024 bytes": (
        with_id_of(1024),
        "section 7.1 allows 1,023; fido2 leaves it to callers",
    ),
    "registration: id of 2,000 bytes": (with_id_of(2000), "the same"),
    "registration: id that is not the one in the authenticator data": (
        formed(REGISTERED, {"id": LONG, "rawId": LONG}),
        "fido2 stores that of the authenticator data and does not compare them",
    ),
    "registration: id that is a number": (formed(REGISTERED, {"id": 1, "rawId": 1}), "the same"),
    "registration: padded id": (
        formed(REGISTERED, padded),
        "base64url has one form here; fido2 takes others, so that a passkey would have several ids",
    ),
    "assertion: padded id": (formed(ASSERTED, padded), "the same"),
    "registration: type": (
        formed(REGISTERED, {"type": "password"}),
        "section 5.1 has one type; fido2 does not look at it",
    ),
    "assertion: type": (formed(ASSERTED, {"type": "password"}), "the same"),
}


@pytest.mark.parametrize("case", BOTH_REFUSE)
def test_both_refuse_a_changed_answer(server, case):
    device = Device()
    kind, answer = BOTH_REFUSE[case](device)

    assert device.both(server, kind, answer) == (False, False)


@pytest.mark.parametrize("case", ONLY_WE_REFUSE)
def test_only_this_service_refuses(server, case):
    device = Device()
    make, reason = ONLY_WE_REFUSE[case]
    kind, answer = make(device)

    assert reason
    assert device.both(server, kind, answer) == (False, True)


# What belongs to the account, so that only the login can know it. `fido2` leaves it to its callers.
ONLY_THE_LOGIN_REFUSES = {
    "handle of another user": (
        lambda ann: {"handle": websafe_encode(b"b" * 64)},
        "section 7.2: the answer is for another account",
    ),
    "counter that is not above the last one": (
        lambda ann: {"counter": ann.device.credentials[0].counter - 1},
        "section 7.2: somebody else may have used a copy of the key",
    ),
    "passkey that can suddenly be backed up": (
        lambda ann: {"flags": UP | UV | BE},
        "section 7.2: this is fixed when the key is created",
    ),
}


@pytest.mark.django_db
@pytest.mark.parametrize("case", ONLY_THE_LOGIN_REFUSES)
def test_only_the_login_refuses(server, ann, case):
    change, reason = ONLY_THE_LOGIN_REFUSES[case]
    ann.enrol()
    assert ann.log_in().status == 200
    begun = ann.login_options()
    (credential,) = ann.device.credentials
    answer = ann.sign(begun, **change(ann))
    state = {**STATE, "challenge": begun["options"]["challenge"]}
    length = len(credential.id).to_bytes(2, "big")
    key = cbor.encode(credential.cose)
    known = AttestedCredentialData(bytes(16) + length + credential.id + key)

    assert reason
    assert finish_login(ann.api, begun, answer).error == (401, "PASSKEY_INVALID")
    assert server.authenticate_complete(state, [known], response=answer)


def test_id_of_1023_bytes_is_accepted():
    device = Authenticator()
    made = Credential(b"i" * 1023, ec.generate_private_key(ec.SECP256R1()), "ES256")

    assert ours(REGISTERED, device.create(OPTIONS, credential=made)) is True


@pytest.mark.parametrize("size", [1024, 8192])
def test_rsa_keys_are_neither_weak_nor_slow(size):
    device = Authenticator("RS256")
    modulus = b"\xff" * (size // 8)
    answer = device.create(OPTIONS, cose={1: 3, 3: -257, -1: modulus, -2: b"\x01\x00\x01"})

    assert ours(REGISTERED, answer) is False


def test_extensions_may_follow_the_key():
    device = Authenticator(flags=UP | UV | ED)
    answer = device.create(OPTIONS, tail=cbor.encode({"credProtect": 2}))

    assert ours(REGISTERED, answer) is True


def test_bytes_after_the_extensions_are_refused():
    """A number in half precision is longer when it is written again, which hides bytes from a
    reader that measures by writing."""
    device = Authenticator(flags=UP | UV | ED)
    half = b"\xa1\x61x\xf9\x3c\x00"
    answer = device.create(OPTIONS, tail=half + b"\x00\x00")

    assert ours(REGISTERED, device.create(OPTIONS, tail=half)) is True
    assert ours(REGISTERED, answer) is False


def test_statement_of_the_maker_is_ignored_unless_it_is_asked_for():
    device = Device()

    def signed(raw):
        read = cbor.decode(raw)
        return cbor.encode({**read, "fmt": "packed", "attStmt": {"alg": -7, "sig": b"x"}})

    answer = changed(device.created, "attestationObject", signed)

    assert ours(REGISTERED, answer) is True


def test_client_data_in_another_encoding_is_refused():
    device = Device()
    answer = changed(
        device.created,
        "clientDataJSON",
        lambda raw: json.dumps(json.loads(raw)).encode("utf-16"),
    )

    assert ours(REGISTERED, answer) is False
