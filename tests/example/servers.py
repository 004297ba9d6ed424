"""The example project under real servers: each one with a login module and a database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from subprocess import Popen
from urllib.request import urlopen

from tests.hosts.servers import own_database
from tests.support.ports import free_port
from tests.support.processes import environment, started, wait_for

KEY = "the-key-of-the-mailbox"
SERVE = ("example_project/manage.py", "serve", "-v", "0")
_UVICORN = ("-m", "uvicorn", "--log-level", "warning", "example_project.asgi:application")
_MIGRATE = ("example_project/manage.py", "migrate", "-v", "0")


@dataclass(frozen=True)
class Service:
    """What runs the console: `gunicorn` or `uvicorn`, `session` or `stateless`, `sqlite` or
    `postgresql`, and whether the tokens are in cookies."""

    server: str = "gunicorn"
    login: str = "session"
    database: str = "sqlite"
    cookies: bool = False

    def __str__(self) -> str:
        tokens = "cookies" if self.cookies else "memory"
        return f"{self.server}-{self.login}-{self.database}-{tokens}"


class Services:
    """Starts each service when a test asks for it first. Those with the same database share it."""

    def __init__(self, folder: Path, stack: ExitStack, **variables: str) -> None:
        self._folder = folder
        self._stack = stack
        self._variables = variables
        self._databases: dict[str, str] = {}
        self._origins: dict[Service, str] = {}

    def origin(self, service: Service) -> str:
        if service not in self._origins:
            self._origins[service] = self._start(service)
        return self._origins[service]

    def _start(self, service: Service) -> str:
        port = free_port()
        origin = f"http://localhost:{port}"
        folder = self._folder / str(service)
        folder.mkdir()
        given = {
            **self._variables,
            "AUTHSERVICE_API_URL": origin,
            "AUTHSERVICE_LOGIN": service.login,
            "AUTHSERVICE_MAILBOX": str(folder / "mailbox"),
            "AUTHSERVICE_MAILBOX_KEY": KEY,
            "DATABASE_URL": self._database(service.database),
        }
        if service.cookies:
            given |= {"AUTHSERVICE_CSRF": "1", "AUTHSERVICE_COOKIES": "1"}
        command = SERVE
        if service.server == "uvicorn":
            command = (*_UVICORN, "--host", "localhost", "--port", str(port))
            given["AUTHSERVICE_CONSOLE"] = "1"  # which `serve` has by default
        log = folder / "server.log"
        self._stack.enter_context(run(*command, log=log, **given))
        wait_for(partial(visit, f"{origin}/"), log)
        return origin

    def _database(self, name: str) -> str:
        if name not in self._databases:
            self._databases[name] = self._made(name)
        return self._databases[name]

    def _made(self, name: str) -> str:
        url = f"sqlite:///{self._folder}/db.sqlite3"
        if name == "postgresql":
            url = self._stack.enter_context(own_database("console", self._folder))
        log = self._folder / "migrate.log"
        # The session module has tables, and the other one has none.
        migrate = {"AUTHSERVICE_LOGIN": "session", "DATABASE_URL": url}
        with run(*_MIGRATE, log=log, **migrate) as process:
            assert process.wait() == 0, log.read_text()
        return url


def visit(url: str) -> None:
    urlopen(url).close()


def run(*command: str, log: Path, **variables: str) -> AbstractContextManager[Popen[bytes]]:
    given = environment(DJANGO_SETTINGS_MODULE="example_project.settings", **variables)
    return started(*command, log=log, variables=given)


@contextmanager
def services(folder: Path, **variables: str) -> Iterator[Services]:
    with ExitStack() as stack:
        yield Services(folder, stack, **variables)


@contextmanager
def provider(port: int, folder: Path) -> Iterator[str]:
    """Start the local OpenID provider; yields its issuer."""
    log = folder / "provider.log"
    with run(
        "example_project/manage.py", "authservice_local_provider", "--port", str(port), log=log
    ):
        issuer = f"http://localhost:{port}"
        wait_for(partial(visit, f"{issuer}/.well-known/openid-configuration"), log)
        yield issuer
