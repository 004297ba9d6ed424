"""The service behind https on several domains of this machine, under a certificate authority that
lives as long as the tests."""

from __future__ import annotations

import base64
import hashlib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.support.serving import running

_PAGE = b"""<!doctype html>
<html lang="en"><title>Shop</title><link rel="icon" href="data:,"><h1>Shop</h1></html>"""
_PASSED = ("Content-Type", "Authorization", "Accept", "Host", "Origin", "Cookie")


class Authority:
    """A certificate authority, and one certificate for all the domains."""

    def __init__(self, folder: Path, *domains: str) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Authority of the tests")])
        own = _builder(name, name, self._key)
        own = own.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        self._certificate = own.sign(self._key, hashes.SHA256())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, domains[0])])
        names = x509.SubjectAlternativeName([x509.DNSName(domain) for domain in domains])
        leaf = _builder(subject, name, key).add_extension(names, critical=False)
        chain = [leaf.sign(self._key, hashes.SHA256()), self._certificate]
        self.file = folder / "chain.pem"
        pem = serialization.Encoding.PEM
        written = key.private_bytes(
            pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        self.file.write_bytes(b"".join([written, *(one.public_bytes(pem) for one in chain)]))

    @property
    def switch(self) -> str:
        """The switch by which Chromium accepts its certificates."""
        key = self._certificate.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        digest = base64.b64encode(hashlib.sha256(key).digest()).decode()
        return f"--ignore-certificate-errors-spki-list={digest}"


def _builder(subject: x509.Name, issuer: x509.Name, key: Any) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
    )


@contextmanager
def secured(behind: int, authority: Authority) -> Iterator[int]:
    """A server with https in front of the one at the port `behind`, whose root is a page of the
    project; yields its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/":
                self._send(200, "text/html; charset=utf-8", _PAGE)
                return
            length = int(self.headers.get("Content-Length", 0))
            headers = {name: self.headers[name] for name in _PASSED if name in self.headers}
            connection = HTTPConnection("127.0.0.1", behind, timeout=20)
            connection.request(self.command, self.path, self.rfile.read(length), headers)
            answer = connection.getresponse()
            kind = answer.headers.get("Content-Type", "")
            self._send(answer.status, kind, answer.read())
            connection.close()

        do_POST = do_DELETE = do_GET  # noqa: N815

        def _send(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority.file)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    with running(server):
        yield server.server_port
