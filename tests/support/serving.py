"""Serve the project on a real socket in this process, with the database of the tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import BaseServer, ThreadingMixIn
from threading import Thread
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from django.core.handlers.wsgi import WSGIHandler

# How often, in seconds, a server checks whether to stop; the default is half a second.
POLL = 0.02


@contextmanager
def running(server: BaseServer) -> Iterator[None]:
    """Let a server respond in a thread until the end of the block."""
    thread = Thread(target=server.serve_forever, args=(POLL,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Threaded(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Silent(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served(prefix: str = "", *, threads: bool = True) -> Iterator[str]:
    """Serve the project below `prefix`, which the server removes; yields the service's URL.

    Without `threads`, one thread answers all requests in turn, as an in-memory database requires.
    """
    project = WSGIHandler()

    def application(environ: Any, start_response: Any) -> Any:
        environ["SCRIPT_NAME"] = prefix
        environ["PATH_INFO"] = environ["PATH_INFO"].removeprefix(prefix)
        return project(environ, start_response)

    server = (_Threaded if threads else WSGIServer)(("127.0.0.1", 0), _Silent)
    server.set_app(application)
    with running(server):
        yield f"http://127.0.0.1:{server.server_port}{prefix}/auth/"
