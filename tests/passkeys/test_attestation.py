"""Attestation: only listed models, whose maker signs under a root of the signed metadata."""

import base64
import hashlib
import json
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID, ObjectIdentifier
from fido2 import cbor
from fido2.utils import websafe_decode, websafe_encode

from authservice.core.models import Session
from authservice.passkeys import attestation
from authservice.passkeys.models import Passkey
from tests.passkeys.authenticator import Authenticator

pytestmark = pytest.mark.django_db
MODEL = bytes.fromhex("2fc0579f811347eab116bb5a8db9202a")
NAME = "2fc0579f-8113-47ea-b116-bb5a8db9202a"
OTHER = "11111111-2222-3333-4444-555555555555"
INVALID = (400, "PASSKEY_INVALID")
_MODEL_EXTENSION = ObjectIdentifier("1.3.6.1.4.1.45724.1.1.4")


class Issuer:
    """A root certificate, and the certificates that it issues."""

    def __init__(self, name):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = _named(name)
        self.certificate = self._signed(self.name, self.key, [], ca=True)

    def issue(self, name, *extensions):
        key = ec.generate_private_key(ec.SECP256R1())
        return key, self._signed(name, key, extensions, ca=False)

    def _signed(self, name, key, extensions, *, ca):
        now = datetime.now(UTC)
        builder = x509.CertificateBuilder(
            issuer_name=self.name,
            subject_name=name,
            public_key=key.public_key(),
            serial_number=x509.random_serial_number(),
            not_valid_before=now - timedelta(days=1),
            not_valid_after=now + timedelta(days=36500),
        ).add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        for extension in extensions:
            builder = builder.add_extension(extension, critical=False)
        return builder.sign(self.key, hashes.SHA256())


def _named(name, **more):
    parts = [
        x509.NameAttribute(NameOID.COUNTRY_NAME, "SE"),
        x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Maker"),
        x509.NameAttribute(NameOID.ORGANIZATIONAL_UNIT_NAME, "Authenticator Attestation"),
        x509.NameAttribute(NameOID.COMMON_NAME, name),
    ]
    return x509.Name(parts)


class Maker(Issuer):
    """Makes keys of one model, and signs for each passkey that it is of this model."""

    def attested(self, device, options, model=MODEL):
        device.aaguid = model
        created = device.create(options)
        raw = cbor.decode(websafe_decode(created["response"]["attestationObject"]))["authData"]
        client = websafe_decode(created["response"]["clientDataJSON"])
        extension = x509.UnrecognizedExtension(_MODEL_EXTENSION, b"\x04\x10" + model)
        key, certificate = self.issue(_named("Key"), extension)
        signature = key.sign(raw + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        chain = [certificate.public_bytes(Encoding.DER)]
        statement = {"alg": -7, "sig": signature, "x5c": chain}
        packed = cbor.encode({"fmt": "packed", "attStmt": statement, "authData": raw})
        created["response"]["attestationObject"] = websafe_encode(packed)
        return created


def metadata(service, maker, *, status="FIDO_CERTIFIED", signer=attestation.SIGNER):
    """The metadata of one model, signed by the service."""
    root = base64.b64encode(maker.certificate.public_bytes(Encoding.DER)).decode()
    statement = {
        "description": "Key",
        "authenticatorVersion": 1,
        "schema": 3,
        "upv": [{"major": 1, "minor": 1}],
        "attestationTypes": ["basic_full"],
        "userVerificationDetails": [[{"userVerificationMethod": "none"}]],
        "keyProtection": ["hardware"],
        "matcherProtection": ["on_chip"],
        "attachmentHint": ["external"],
        "tcDisplay": [],
        "attestationRootCertificates": [root],
        "aaguid": NAME,
    }
    entry = {
        "aaguid": NAME,
        "metadataStatement": statement,
        "statusReports": [{"status": status, "effectiveDate": "2026-01-01"}],
        "timeOfLastStatusChange": "2026-01-01",
    }
    payload = {"legalHeader": "", "no": 1, "nextUpdate": "2030-01-01", "entries": [entry]}
    names = x509.SubjectAlternativeName([x509.DNSName(signer)])
    key, certificate = service.issue(_named(signer), names)
    chain = [base64.b64encode(certificate.public_bytes(Encoding.DER)).decode()]
    parts = [
        websafe_encode(json.dumps(it).encode()) for it in ({"alg": "ES256", "x5c": chain}, payload)
    ]
    message = ".".join(parts).encode()
    signature = key.sign(message, ec.ECDSA(hashes.SHA256()))
    return message + b"." + websafe_encode(signature).encode()


@pytest.fixture(scope="module")
def service():
    return Issuer("Metadata")


@pytest.fixture(scope="module")
def maker():
    return Maker("Maker")


@pytest.fixture
def installed(passkeys, service, maker, tmp_path):
    """`installed(AAGUIDS=…)` turns attestation on, with the metadata in a file."""

    def install(blob=None, root=None, **keys):
        path, pem = tmp_path / "blob.jwt", tmp_path / "root.pem"
        path.write_bytes(metadata(service, maker) if blob is None else blob)
        certificate = (root or service).certificate
        pem.write_bytes(certificate.public_bytes(Encoding.PEM))
        wanted = {"AAGUIDS": [NAME], "METADATA_FILE": str(path), "METADATA_ROOT": str(pem)}
        passkeys(ATTESTATION="direct", **{**wanted, **keys})

    return install


def add(ann, maker, **change):
    begun = ann.options()
    return ann.add(maker.attested(ann.device, begun["options"], **change), begun=begun)


def test_key_of_a_listed_model_is_attested(ann, maker, installed):
    installed()

    answer = add(ann, maker)

    assert answer.status == 201, answer.body
    assert answer.data["attested"] is True
    assert answer.data["aaguid"] == NAME


def test_options_ask_for_the_statement(ann, installed):
    installed()

    assert ann.options()["options"]["attestation"] == "direct"


def test_login_with_an_attested_key_proves_hardware(ann, maker, installed):
    installed()
    add(ann, maker)

    assert ann.log_in().status == 200

    assert Session.objects.latest("created_at").amr == "hwk user mfa"


def test_key_of_another_model_is_refused(ann, maker, installed):
    installed(AAGUIDS=[OTHER])

    assert add(ann, maker).error == INVALID


def test_key_of_another_maker_is_refused(ann, installed):
    installed()

    assert add(ann, Maker("Maker")).error == INVALID


def test_key_without_a_statement_is_refused(ann, installed):
    installed()
    ann.device = Authenticator(aaguid=MODEL)

    assert ann.add().error == INVALID
    assert Passkey.objects.count() == 0


def test_key_that_signs_for_itself_is_refused(ann, maker, installed):
    installed()
    ann.device.aaguid = MODEL
    begun = ann.options()
    created = ann.device.create(begun["options"])
    read = cbor.decode(websafe_decode(created["response"]["attestationObject"]))
    client = websafe_decode(created["response"]["clientDataJSON"])
    message = read["authData"] + hashlib.sha256(client).digest()
    statement = {"alg": -7, "sig": ann.device.credentials[0].sign(message)}
    packed = cbor.encode({**read, "fmt": "packed", "attStmt": statement})
    created["response"]["attestationObject"] = websafe_encode(packed)

    assert ann.add(created, begun=begun).error == INVALID


def test_revoked_model_is_refused(ann, maker, installed, service):
    installed(blob=metadata(service, maker, status="REVOKED"))

    assert add(ann, maker).error == INVALID


def test_metadata_that_were_changed_are_refused(ann, maker, installed, service, caplog):
    head, payload, signature = metadata(service, maker).split(b".")
    changed = websafe_decode(payload).replace(b'"Key"', b'"key"')
    installed(blob=b".".join([head, websafe_encode(changed).encode(), signature]))

    assert add(ann, maker).error == INVALID
    assert "PASSKEYS.METADATA_FILE" in caplog.text


def test_metadata_under_another_root_are_refused(ann, maker, installed):
    installed(root=Issuer("Metadata"))

    assert add(ann, maker).error == INVALID


def test_metadata_of_another_signer_are_refused(ann, maker, installed, service):
    """The root signs certificates of many sites."""
    installed(blob=metadata(service, maker, signer="shop.example.com"))

    assert add(ann, maker).error == INVALID


def test_metadata_are_usable(installed, tmp_path):
    installed()
    path, root = str(tmp_path / "blob.jwt"), str(tmp_path / "root.pem")

    assert attestation.is_usable(path, root)
    assert not attestation.is_usable(path, "")
    assert not attestation.is_usable(str(tmp_path / "missing"), root)
