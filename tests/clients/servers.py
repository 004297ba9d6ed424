"""The services that the clients call: the example project with bearer tokens, and with cookies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from django.conf import settings

from tests.example.servers import SERVE, run, visit
from tests.hosts.servers import own_database
from tests.support.ports import free_port
from tests.support.processes import wait_for
from tests.support.serving import running

_GUNICORN = ("-m", "gunicorn", "--worker-class", "gthread", "--threads", "8")
# With the console, which stores the mails that the tests read.
_COOKIES = {"AUTHSERVICE_CONSOLE": "1", "AUTHSERVICE_CSRF": "1", "AUTHSERVICE_COOKIES": "1"}


@dataclass(frozen=True)
class Service:
    """A running service; `url` includes its path."""

    url: str
    access_log: Path
    mailbox: Path

    def requests(self, line: str) -> list[int]:
        """The status of each request so far, by its start, such as `POST /auth/refresh`."""
        found = re.findall(rf'"{re.escape(line)}[ ?][^"]*" (\d+)', self.access_log.read_text())
        return [int(status) for status in found]


@dataclass(frozen=True)
class Services:
    bearer: Service
    cookies: Service
    # The origin of the pages, which is another one, and the folder with its files.
    pages: str
    folder: Path


def post(service: Service, path: str, token: str = "", **body: str) -> Any:
    """`data` of the response to a request with a bearer token or without one."""
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    if not token:
        del headers["Authorization"]
    request = Request(f"{service.url}/{path}", json.dumps(body).encode(), headers)
    try:
        with urlopen(request) as response:
            return json.load(response)["data"]
    except HTTPError as refused:
        with refused:
            raise AssertionError(f"{refused.code} {refused.read()!r}") from None


@contextmanager
def services(folder: Path) -> Iterator[Services]:
    files = folder / "pages"
    files.mkdir()
    mailbox = folder / "mailbox"
    with ExitStack() as stack:
        pages = stack.enter_context(_pages(files))
        database = stack.enter_context(own_database("clients", folder))
        log = folder / "server.log"
        common = {
            "AUTHSERVICE_FRONTEND_URL": pages,
            "AUTHSERVICE_MAGICLINK_CALLBACK_URL": f"{pages}/",
            "AUTHSERVICE_MAILBOX": str(mailbox),
            "AUTHSERVICE_THROTTLE": "0",
            "CORS_ALLOWED_ORIGINS": pages,
            "DATABASE_URL": database,
            # That of the suite, so that tests can sign tokens.
            "SECRET_KEY": settings.SECRET_KEY,
        }
        bearer, cookies = (
            Service(f"http://localhost:{free_port()}/auth", folder / f"{name}.log", mailbox)
            for name in ("bearer", "cookies")
        )
        started = (
            # `serve` migrates the database of both.
            (bearer, [*SERVE], {"AUTHSERVICE_LOGIN": "session"}),
            (cookies, [*_GUNICORN], _COOKIES),
        )
        for service, command, own in started:
            address = service.url.removeprefix("http://").removesuffix("/auth")
            more = {
                "AUTHSERVICE_API_URL": f"http://{address}",
                "GUNICORN_CMD_ARGS": f"--access-logfile {service.access_log}",
            }
            if command[0] == "-m":
                command = [*command, "--bind", address, "example_project.wsgi"]
            stack.enter_context(run(*command, log=log, **common, **own, **more))
        for service in (bearer, cookies):
            wait_for(partial(visit, f"{service.url}/.well-known/jwks.json"), log)
        yield Services(bearer, cookies, pages, files)


@contextmanager
def _pages(folder: Path) -> Iterator[str]:
    """Serve the files of a folder; yields the origin."""

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
    server.daemon_threads = True
    with running(server):
        yield f"http://localhost:{server.server_port}"
