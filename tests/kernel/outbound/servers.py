"""Servers that misbehave: each answers by a function that gets the connection of a client."""

from __future__ import annotations

import contextlib
import datetime
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"


class Server:
    """A TCP server. `requests` are the bytes of each request up to the end of its headers, and
    `stopped` is set when the test is over."""

    def __init__(self, answer: Callable[[socket.socket, Server], None]) -> None:
        self.answer = answer
        self.requests: list[bytes] = []
        self.stopped = Event()
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"


@contextmanager
def served(
    answer: Callable[[socket.socket, Server], None] | bytes = OK,
    *,
    address: str = "127.0.0.1",
    port: int = 0,
    tls: ssl.SSLContext | None = None,
) -> Iterator[Server]:
    server = Server(answer if callable(answer) else lambda client, _: client.sendall(answer))
    listening = socket.create_server((address, port))
    server.port = listening.getsockname()[1]
    threads: list[Thread] = []

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                threads.append(Thread(target=_serve, args=(listening.accept()[0], server, tls)))
                threads[-1].start()

    accepting = Thread(target=accept)
    accepting.start()
    try:
        yield server
    finally:
        server.stopped.set()
        with contextlib.suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        accepting.join()
        for thread in threads:
            thread.join()


def _serve(client: socket.socket, server: Server, tls: ssl.SSLContext | None) -> None:
    client.settimeout(5)
    with contextlib.suppress(OSError), contextlib.ExitStack() as kept:
        kept.enter_context(client)
        if tls:
            client = kept.enter_context(tls.wrap_socket(client, server_side=True))
        received = b""
        while b"\r\n\r\n" not in received and (chunk := client.recv(65536)):
            received += chunk
        server.requests.append(received)
        server.answer(client, server)


class Authority:
    """A certificate authority, and certificates that it signs."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "authservice tests")])
        self._certificate = self._signed(self._name, self._key, authority=True)
        self.file = str(self._written("authority.pem", self._certificate))

    def context(self, host: str) -> ssl.SSLContext:
        """TLS of a server with a certificate for `host`."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
        path = self._written(f"{host}.pem", self._signed(name, key, host=host), key)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context

    def _signed(
        self, name: x509.Name, key: ec.EllipticCurvePrivateKey, *, host: str = "", authority=False
    ) -> x509.Certificate:
        now = datetime.datetime.now(datetime.UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
            # Python 3.13 checks certificates strictly: these are required (RFC 5280 section 4.2.1).
            .add_extension(
                x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False
            )
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()),
                critical=False,
            )
            .add_extension(_usage(authority=authority), critical=True)
        )
        if host:
            names = x509.SubjectAlternativeName([x509.DNSName(host)])
            builder = builder.add_extension(names, critical=False)
        return builder.sign(self._key, hashes.SHA256())

    def _written(
        self,
        name: str,
        certificate: x509.Certificate,
        key: ec.EllipticCurvePrivateKey | None = None,
    ) -> Path:
        content = certificate.public_bytes(serialization.Encoding.PEM)
        if key:
            content += key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        path = self._directory / name
        path.write_bytes(content)
        return path


def _usage(*, authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not authority,
        key_cert_sign=authority,
        crl_sign=authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
