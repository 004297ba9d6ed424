"""Attestation: accept only security keys that prove to be of a model in the settings.

The maker of a key signs which model it is. The metadata of the FIDO Alliance list the root
certificates of each model, and models that were revoked. They are read from a file that the
operator renews, and only if they are signed under the root certificate of the Metadata Service.

The package `fido2`, an extra of its own, reads the metadata and checks the signatures. `fido2` and
X.509 of `cryptography` are imported when the first such key is added.
"""

from __future__ import annotations

import base64
import json
import logging
from pathlib import Path
from typing import Any

from authservice.kernel import settings
from authservice.passkeys.conf import conf
from authservice.passkeys.relying_party import NewPasskey, Unverified

logger = logging.getLogger("authservice.passkeys")

# The name in the certificate that signs the metadata (FIDO Metadata Service 3.0, section 3.2).
SIGNER = "mds.fidoalliance.org"
# GlobalSign Root CA - R3, valid until 2029-03-18.
_ROOT = """-----BEGIN CERTIFICATE-----
MIIDXzCCAkegAwIBAgILBAAAAAABIVhTCKIwDQYJKoZIhvcNAQELBQAwTDEgMB4G
A1UECxMXR2xvYmFsU2lnbiBSb290IENBIC0gUjMxEzARBgNVBAoTCkdsb2JhbFNp
Z24xEzARBgNVBAMTCkdsb2JhbFNpZ24wHhcNMDkwMzE4MTAwMDAwWhcNMjkwMzE4
MTAwMDAwWjBMMSAwHgYDVQQLExdHbG9iYWxTaWduIFJvb3QgQ0EgLSBSMzETMBEG
A1UEChMKR2xvYmFsU2lnbjETMBEGA1UEAxMKR2xvYmFsU2lnbjCCASIwDQYJKoZI
hvcNAQEBBQADggEPADCCAQoCggEBAMwldpB5BngiFvXAg7aEyiie/QV2EcWtiHL8
RgJDx7KKnQRfJMsuS+FggkbhUqsMgUdwbN1k0ev1LKMPgj0MK66X17YUhhB5uzsT
gHeMCOFJ0mpiLx9e+pZo34knlTifBtc+ycsmWQ1z3rDI6SYOgxXG71uL0gRgykmm
KPZpO/bLyCiR5Z2KYVc3rHQU3HTgOu5yLy6c+9C7v/U9AOEGM+iCK65TpjoWc4zd
QQ4gOsC0p6Hpsk+QLjJg6VfLuQSSaGjlOCZgdbKfd/+RFO+uIEn8rUAVSNECMWEZ
XriX7613t2Saer9fwRPvm2L7DWzgVGkWqQPabumDk3F2xmmFghcCAwEAAaNCMEAw
DgYDVR0PAQH/BAQDAgEGMA8GA1UdEwEB/wQFMAMBAf8wHQYDVR0OBBYEFI/wS3+o
LkUkrk1Q+mOai97i3Ru8MA0GCSqGSIb3DQEBCwUAA4IBAQBLQNvAUKr+yAzv95ZU
RUm7lgAJQayzE4aGKAczymvmdLm6AC2upArT9fHxD4q/c2dKg8dEe3jgr25sbwMp
jjM5RcOO5LlXbKr8EpbsU8Yt5CRsuZRj+9xTaGdWPoO4zzUhw8lo/s7awlOqzJCK
6fBdRoyV3XpYKBovHd7NADdBj+1EbddTKJd+82cEHhXXipa0095MJ6RMG3NzdvQX
mcIfeg7jLQitChws/zyrVQ4PkX4268NXSb7hLi18YIvDQVETI53O9zJrlAGomecs
Mx86OyXShkDOOyyGeMlhLxS67ttVb9+E7gUJTb0o2HLO02JQZR7rkpeDMdmztcpH
WD9f
-----END CERTIFICATE-----
"""


class UnusableMetadata(Exception):
    """The metadata file cannot be read, or its signature is not valid. The text says why."""


def require(new: NewPasskey) -> None:
    """Raises `Unverified` unless the key is of a listed model and its maker has signed that."""
    from fido2.webauthn import AttestationObject

    if str(new.aaguid) not in conf.aaguids:
        raise Unverified("model")
    try:
        verifier = _verifier()
    except UnusableMetadata as error:
        # The operator's mistake: the system check names it too.
        logger.error("No passkey can be added: %s", error)
        raise Unverified("metadata") from error
    try:
        verifier.verify_attestation(AttestationObject(new.statement), new.client_data)
    except Exception as error:  # the package raises many kinds, some of Python itself
        raise Unverified(type(error).__name__) from error


def read_metadata(path: str, root: str) -> Any:
    """The metadata in a file, if they are signed under the root. Raises `UnusableMetadata`."""
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding
    from fido2.mds3 import parse_blob
    from fido2.utils import websafe_decode

    try:
        pem = Path(root).read_bytes() if root else _ROOT.encode()
        root_certificate = x509.load_pem_x509_certificate(pem)
        blob = Path(path).read_bytes().strip()
        metadata = parse_blob(blob, root_certificate.public_bytes(Encoding.DER))
        # The root signs certificates of many sites, each of which could sign metadata.
        header = json.loads(websafe_decode(blob.split(b".", 1)[0]))
        leaf = x509.load_der_x509_certificate(base64.b64decode(header["x5c"][0]))
        names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        if SIGNER not in names.get_values_for_type(x509.DNSName):
            raise ValueError(SIGNER)
    except Exception as error:  # an error of the file, JSON, a certificate or a signature
        raise UnusableMetadata(f"PASSKEYS.METADATA_FILE: {type(error).__name__}") from error
    return metadata


@settings.cached
def _verifier() -> Any:
    """Cached, as the file has several megabytes. A worker reads a renewed file when it restarts."""
    from fido2.mds3 import MdsAttestationVerifier

    return MdsAttestationVerifier(read_metadata(conf.metadata_file, conf.metadata_root))


def is_usable(path: str, root: str) -> bool:
    """Whether the metadata in the file are signed under the root."""
    try:
        read_metadata(path, root)
    except UnusableMetadata:
        return False
    return True
