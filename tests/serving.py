"""The project behind a real socket, in this process, so that it sees the database of the tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import ThreadingMixIn
from threading import Thread
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from django.core.handlers.wsgi import WSGIHandler

# Seconds after which a server looks whether it is to stop: half of one, unless it is told.
POLL = 0.02


class _Threaded(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Silent(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served(prefix: str = "", *, threads: bool = True) -> Iterator[str]:
    """The project below `prefix`, which the server cuts off; the address of the service.

    Without `threads` one thread answers everything in turn: a database in memory wants that.
    """
    project = WSGIHandler()

    def application(environ: Any, start_response: Any) -> Any:
        environ["SCRIPT_NAME"] = prefix
        environ["PATH_INFO"] = environ["PATH_INFO"].removeprefix(prefix)
        return project(environ, start_response)

    server = (_Threaded if threads else WSGIServer)(("127.0.0.1", 0), _Silent)
    server.set_app(application)
    thread = Thread(target=server.serve_forever, args=(POLL,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{prefix}/auth/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
