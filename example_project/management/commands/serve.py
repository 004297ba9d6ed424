"""`manage.py serve`: migrate and serve the whole project with one command."""

import os
import secrets
import socket
import sys
from argparse import ArgumentParser
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from django.conf import settings
from django.core.management import BaseCommand, CommandError, call_command
from django.urls import NoReverseMatch, reverse

from example_project import local_provider
from example_project.oauth import LOCAL, has_local_provider
from example_project.start_up import manage

ROOT = Path(__file__).resolve().parents[3]


class Command(BaseCommand):
    help = "Migrate the database, say where everything is, and serve with gunicorn."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--bind", default=own_address(), help="host:port (%(default)s)")
        parser.add_argument("--threads", default="8", help="threads per worker (%(default)s)")

    def handle(self, *, bind: str, threads: str, **options: Any) -> None:
        require_free(bind)
        call_command("migrate", interactive=False, verbosity=options["verbosity"])
        origin = origin_of(bind)
        if bind != own_address():
            # For links in mails. The variable may name another address, that of a proxy.
            os.environ.setdefault("AUTHSERVICE_API_URL", origin)
        taken = has_local_provider() and is_in_use(LOCAL["ISSUER"])
        self.stdout.write(greeting(origin, key=mailbox_key(), provider_port_taken=taken))
        self.stdout.flush()
        # Threads, because a password hash would block a whole worker otherwise. gunicorn reads the
        # number of workers from WEB_CONCURRENCY.
        command = ["--worker-class", "gthread", "--threads", threads, "--bind", bind]
        # The longest that gunicorn allows; providers put long codes into the address of a callback.
        command += ["--limit-request-line", "8190"]
        if settings.DEVELOPMENT and has_local_provider():
            local_provider.start()
        os.chdir(ROOT)
        # gunicorn has other arguments, so the settings could not see there that this is `serve`.
        os.environ["AUTHSERVICE_CONSOLE"] = "1" if settings.CONSOLE else "0"
        os.execv(  # noqa: S606 no shell, and no untrusted input
            sys.executable, [sys.executable, "-m", "gunicorn", *command, "example_project.wsgi"]
        )


def own_address() -> str:
    """Host and port of API_URL if it names this machine, else gunicorn's default."""
    url = urlsplit(settings.AUTHSERVICE["API_URL"])
    if url.hostname in ("127.0.0.1", "localhost"):
        return f"{url.hostname}:{url.port or 80}"
    return "localhost:8000"


def require_free(bind: str) -> None:
    """Raises `CommandError` if another server listens there, before anything is printed."""
    port = bind.rpartition(":")[2]
    # Only a host and a port can be asked; gunicorn also takes the path of a Unix socket.
    if port.isdecimal() and is_in_use(origin_of(bind)):
        raise CommandError(
            f"Port {port} is in use. Choose another:"
            f" AUTHSERVICE_API_URL=http://localhost:{int(port) + 1} {manage()} serve"
        )


def is_in_use(origin: str) -> bool:
    """Whether a program listens at the host and port of this origin."""
    url = urlsplit(origin)
    with suppress(OSError), socket.create_connection((url.hostname, url.port), 1):
        return True
    return False


def origin_of(bind: str) -> str:
    """The origin of a server that listens at `bind`; localhost if it listens at all addresses."""
    host, _, port = bind.rpartition(":")
    everywhere = host in ("", "0.0.0.0", "[::]")  # noqa: S104 nothing is bound here
    return f"http://{'localhost' if everywhere else host}:{port}"


def mailbox_key() -> str:
    """The key of the mailbox and of the record of requests, which the server reads from its
    environment; "" outside of development."""
    if not settings.DEVELOPMENT:
        return ""
    key: str = settings.CONSOLE_MAILBOX_KEY or secrets.token_urlsafe(24)
    os.environ["AUTHSERVICE_MAILBOX_KEY"] = key
    return key


def greeting(origin: str, *, key: str, provider_port_taken: bool = False) -> str:
    base = f"{origin}/{settings.AUTHSERVICE_BASE_PATH.strip('/')}"
    lines = [
        *_line("Shop", origin, "console", f"?mailbox={quote(key)}" if key else ""),
        *_line("API docs", origin, "authservice:docs"),  # with the `openapi` extra
        *_line("Django admin", origin, "admin:index"),
        *(
            [
                f"Provider       {LOCAL['ISSUER']} (for “the local provider”)"
                + (
                    ", where a program listens already. If that is no local provider, choose"
                    " another port: AUTHSERVICE_LOCAL_PROVIDER_PORT=9401"
                    if provider_port_taken
                    else ""
                )
            ]
            if key and has_local_provider()
            else []
        ),
        f"Routes         {base}/…",
        f"Administrator  {manage()} createsuperuser",
    ]
    return "\n".join(lines)


def _line(title: str, origin: str, name: str, query: str = "") -> list[str]:
    with suppress(NoReverseMatch):
        return [f"{title:<14} {origin}{reverse(name)}{query}"]
    return []
