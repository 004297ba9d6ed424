"""Real servers that receive e-mails and text messages, in threads and on free ports."""

from __future__ import annotations

import asyncio
import json
import socket
from email import message_from_bytes, policy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from aiosmtpd.controller import Controller

from tests.support.ports import free_port
from tests.support.serving import POLL

_TURNS = 10  # accepting a client and closing its connection take about five


class _Controller(Controller):
    """Closes the connections that clients left open. `Controller.stop` leaves them to the garbage
    collector, whose warning would fail whichever test runs then."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._servers: list[Any] = []

    def factory(self) -> Any:
        self._servers.append(super().factory())
        return self._servers[-1]

    def stop(self, *args: Any, **options: Any) -> None:
        asyncio.run_coroutine_threadsafe(self._abort(), self.loop).result(5)
        super().stop(*args, **options)

    async def _abort(self) -> None:
        # First accept no further client, or one could connect after the others were aborted. The
        # server is closed later: asyncio fails on a client that it has accepted by then.
        for listening in self.server.sockets:
            self.loop.remove_reader(listening.fileno())
        # A client accepted before that gets its transport within the next turns of the loop. A
        # pause would not do: on a busy machine the loop may take a single turn in it.
        for _ in range(_TURNS):
            await asyncio.sleep(0)
            for server in self._servers:
                if server.transport is not None:
                    server.transport.abort()


class Sink:
    """A mail server that keeps the e-mails it accepts.

    It refuses every recipient with `refusal` if that is set, and aborts the first `to_abort`
    transmissions.
    """

    def __init__(self, port: int = 0) -> None:
        self.port = port or free_port()
        self.raw: list[bytes] = []
        self.recipients: list[list[str]] = []
        self.aborted = 0
        self.to_abort = 0
        self.refusal = ""
        self.seconds = 0.0  # to accept an e-mail

    def __enter__(self) -> Sink:
        self.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()

    def start(self) -> None:
        self._controller = _Controller(_Handler(self), hostname="127.0.0.1", port=self.port)
        self._controller.start()

    def stop(self) -> None:
        """Nothing listens at the port until the next `start`."""
        self._controller.stop()

    @property
    def mails(self) -> list[Any]:
        return [message_from_bytes(raw, policy=policy.default) for raw in self.raw]


class _Handler:
    """The hooks of a sink. They are not its own: aiosmtpd reads every attribute of the object with
    the hooks at each connection, and one of the sink parses all its e-mails."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    async def handle_RCPT(  # noqa: N802
        self, server: Any, session: Any, envelope: Any, address: str, options: Any
    ) -> str:
        if not self._sink.refusal:
            envelope.rcpt_tos.append(address)
        return self._sink.refusal or "250 known"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        if self._sink.aborted < self._sink.to_abort:
            self._sink.aborted += 1
            server.transport.abort()
            return "421 gone"
        await asyncio.sleep(self._sink.seconds)
        self._sink.raw.append(envelope.content)
        self._sink.recipients.append(envelope.rcpt_tos)
        return "250 taken"


class Silent:
    """A server that accepts connections and never responds."""

    def __init__(self, port: int = 0) -> None:
        self.port = port

    def __enter__(self) -> Silent:
        self._socket = socket.create_server(("127.0.0.1", self.port))
        self.port = self._socket.getsockname()[1]
        return self

    def __exit__(self, *_: Any) -> None:
        self._socket.close()


class Gateway:
    """A web server that keeps the requests it receives and responds with `status`, and with `text`
    or else `body` as JSON."""

    def __init__(self) -> None:
        self.status = 200
        self.headers: dict[str, str] = {}
        self.body: dict[str, Any] = {}
        self.text = ""
        self.requests: list[tuple[str, str, dict[str, str], bytes]] = []
        self.answered: list[int] = []

    def __enter__(self) -> Gateway:
        gateway = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                gateway.answer(self)

            do_GET = do_POST  # noqa: N815

            def log_message(self, *_: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        Thread(target=self._server.serve_forever, args=(POLL,), daemon=True).start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("Content-Length", 0))
        body = handler.rfile.read(length)
        self.requests.append((handler.command, handler.path, dict(handler.headers), body))
        answer, status = (self.text or json.dumps(self.body)).encode(), self.status
        handler.send_response(status)
        for name, value in {**self.headers, "Content-Length": str(len(answer))}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(answer)
        self.answered.append(status)
