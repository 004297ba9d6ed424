"""What an installation depends on: a mail server with accounts and a provider, in threads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

from tests.support.ports import free_port
from tests.support.serving import POLL

USER, PASSWORD = "mail-account", "right-mail-password"


class MailServer:
    """Accepts mails, and refuses a login with anything but `USER` and `PASSWORD`."""

    def __init__(self) -> None:
        self.port = free_port()
        self.recipients: list[str] = []

    async def handle_DATA(  # noqa: N802
        self, server: Any, session: Any, envelope: Any
    ) -> str:
        self.recipients += envelope.rcpt_tos
        return "250 taken"


def _known(server: Any, session: Any, envelope: Any, mechanism: str, given: Any) -> AuthResult:
    right = (given.login, given.password) == (USER.encode(), PASSWORD.encode())
    return AuthResult(success=right, handled=right)


@contextmanager
def mail_server() -> Iterator[MailServer]:
    mails = MailServer()
    controller = Controller(
        mails,
        hostname="127.0.0.1",
        port=mails.port,
        authenticator=_known,
        auth_require_tls=False,
    )
    controller.start()
    try:
        yield mails
    finally:
        controller.stop()


class Provider:
    """A provider whose metadata and key set are one document. `ahead` are the seconds by which its
    clock is ahead; at other paths than those of `served` it answers 404."""

    def __init__(self) -> None:
        self.issuer = ""
        self.metadata: dict[str, Any] = {}
        self.keys: list[dict[str, str]] = [{"kty": "RSA"}]
        self.ahead = 0.0
        self.served = True

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        document = {"issuer": self.issuer, "jwks_uri": f"{self.issuer}/keys", "keys": self.keys}
        body = json.dumps(document | self.metadata).encode()
        moment = datetime.fromtimestamp(datetime.now(UTC).timestamp() + self.ahead, UTC)
        handler.send_response_only(200 if self.served else 404)
        handler.send_header("Date", format_datetime(moment, usegmt=True))
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)


@contextmanager
def provider() -> Iterator[Provider]:
    found = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # noqa: N802
            found.answer(self)

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.issuer = f"http://127.0.0.1:{server.server_address[1]}"
    Thread(target=server.serve_forever, args=(POLL,), daemon=True).start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
