"""Projects of `startproject` with the lines of the README, each in a server of its own.

A `Run` names what varies. The project has two pages of its own, which only Django's tools know.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg

from tests.oauth.servers import OpenIDServer
from tests.support.ports import free_port
from tests.support.processes import environment, output_of, started, wait_for
from tests.support.serving import running
from tests.wheel.projects import readme

POSTGRESQL = os.environ.get("DATABASE_URL", "")
if not POSTGRESQL.startswith("postgres"):
    POSTGRESQL = "postgres://postgres@127.0.0.1:5432/authservice"
PREFIX = "/app"
MODULES = ("twofactor", "magiclink", "oauth", "organization", "audit")
_PATIENCE = 60  # seconds until a request without response fails the test
_HOP = ("connection", "transfer-encoding", "keep-alive", "date", "server", "content-length")
_GUNICORN = ("gunicorn", "--worker-class", "gthread", "--threads", "4", "site_.wsgi")
_UVICORN = ("uvicorn", "--log-level", "warning")
_LINK = re.compile(r"^http\S+token=\S+", re.MULTILINE)
_NUMBERS = count()

_SETTINGS = """
TEMPLATES[0]["DIRS"] = [BASE_DIR / "templates"]
"""
# A walk hashes a dozen passwords, which would take a third of its time.
_HASHERS = """
from django.contrib.auth.hashers import PBKDF2PasswordHasher


class Fast(PBKDF2PasswordHasher):
    iterations = 1000
"""
_PROVIDER = """
AUTHSERVICE["OAUTH"] = {{"PROVIDERS": {{"oidc": {oidc}}}}}
AUTHSERVICE["OUTBOUND"] = {{"PRIVATE_HOSTS": ["localhost"], "INSECURE_HOSTS": ["localhost"]}}
"""
_LOCALE = 'MIDDLEWARE.insert(2, "django.middleware.locale.LocaleMiddleware")\n'
_LANGUAGES = """
LANGUAGES = [("en", "English"), ("de", "Deutsch"), ("es", "Español"), ("fr", "Français")]
"""
_VIEWS = """
from django.contrib.auth.decorators import login_required
from django.shortcuts import render
from django.views.decorators.cache import never_cache


def home(request):
    return render(request, "home.html")


@never_cache
@login_required
def orders(request):
    return render(request, "orders.html")
"""
_URLS = """
from site_ import views
urlpatterns += [path("", views.home), path("orders", views.orders, name="orders")]
"""
_FRAME = """<!doctype html>
<html lang="{{ LANGUAGE_CODE|default:'en' }}"><head><meta charset="utf-8"><title>Shop</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,"></head><body><main>%s</main></body></html>
"""
_HOME = """<h1>Shop</h1>
{% if user.is_authenticated %}<p id="user">{{ user.email }}</p>
{% else %}<p><a href="{% url 'authservice:page-login' %}?next={% url 'orders' %}">Come in</a></p>
{% endif %}"""
_ORDERS = """<h1>Your orders</h1><p id="user">{{ user.email }}</p>
<p><a href="{% url 'authservice:page-account' %}">Your account</a></p>
<form method="post" action="{% url 'authservice:page-logout' %}">{% csrf_token %}
<button>Leave</button></form>"""
# A part of an ASGI application, as Starlette mounts one.
_MOUNTED = f"""
from site_.asgi import application as project


async def application(scope, receive, send):
    if scope["type"] == "http":
        scope = {{**scope, "root_path": "{PREFIX}"}}
        await project(scope, receive, send)
"""


@dataclass(frozen=True)
class Run:
    """`mount`: the project is at the root, below a prefix that its server knows ("server"), or
    behind a proxy that removes the prefix ("proxy")."""

    login: str = "stateless"
    database: str = "sqlite"
    server: str = "gunicorn"
    size: str = "desktop"
    scheme: str = "light"
    scripts: str = "on"
    language: str = "en"
    mount: str = "root"
    modules: bool = True
    further: tuple[str, ...] = ()

    def __str__(self) -> str:
        values = (self.login, self.database, self.server, self.mount, self.size, self.scheme)
        return " ".join([*values, self.language, f"scripts-{self.scripts}"])

    @property
    def prefix(self) -> str:
        return "" if self.mount == "root" else PREFIX


@dataclass(frozen=True)
class Site:
    """A running project. `url` has no path but the prefix; `log` has the mails."""

    url: str
    log: Path
    run: Run
    provider: OpenIDServer | None

    def link(self, path: str) -> str:
        """The newest mailed link to this path."""
        found: list[str] = []

        def look() -> None:
            found[:] = [one for one in self.links() if path in one]
            if not found:
                raise OSError(path)

        wait_for(look, self.log)
        return found[-1]

    def links(self) -> list[str]:
        return [str(link) for link in _LINK.findall(self.log.read_text())]


@contextmanager
def served(run: Run, folder: Path, provider: OpenIDServer | None = None) -> Iterator[Site]:
    """Create, migrate and serve a project."""
    with ExitStack() as stack:
        behind = free_port()
        port = behind
        if run.mount == "proxy":
            port = stack.enter_context(_proxy(behind))
        site = Site(f"http://localhost:{port}{run.prefix}", folder / "site.log", run, provider)
        database = stack.enter_context(_database(run))
        project = _create(site, folder / "project", database)
        variables = environment(PYTHONUNBUFFERED="1", DJANGO_SETTINGS_MODULE="site_.settings")
        manage = (sys.executable, "manage.py")
        output_of(*manage, "migrate", "-v", "0", variables=variables, folder=project)
        if run.mount == "server" and run.server == "gunicorn":
            variables["SCRIPT_NAME"] = PREFIX
        command = _command(run, behind)
        stack.enter_context(
            started("-m", *command, log=site.log, variables=variables, folder=project)
        )
        path = f"{PREFIX}/" if run.mount == "server" else "/"
        wait_for(lambda: _request(behind, "GET", path), site.log)
        yield site


def _create(site: Site, folder: Path, database: str) -> Path:
    run = site.run
    folder.mkdir()
    command = (sys.executable, "-m", "django", "startproject", "site_", str(folder))
    output_of(*command, variables=environment())
    (folder / "templates").mkdir()
    (folder / "templates" / "home.html").write_text(_FRAME % _HOME)
    (folder / "templates" / "orders.html").write_text(_FRAME % _ORDERS)
    (folder / "site_" / "views.py").write_text(_VIEWS)
    (folder / "site_" / "hashers.py").write_text(_HASHERS)
    (folder / "mounted.py").write_text(_MOUNTED)
    settings, urls, _ = readme()
    assert len((settings + urls).splitlines()) <= 8
    settings = settings.replace("http://localhost:8000", site.url) + _SETTINGS + database
    if run.modules:
        # In the first line, as the README says.
        apps = [f"authservice.{name}" for name in (*MODULES, *run.further, run.login)]
        first, _, rest = settings.partition("]\n")
        settings = f"{first}, *{apps}]\n{rest}PASSWORD_HASHERS = ['site_.hashers.Fast']\n"
    if run.modules and site.provider:
        callback = f"{site.url}/auth/oauth/oidc/callback"
        settings += _PROVIDER.format(oidc=site.provider.settings(callback))
    if run.language != "en":
        # By the service itself, or by Django's middleware: both read the header of the browser.
        settings += _LANGUAGES + (_LOCALE if run.language in ("es", "fr") else "")
    if run.mount == "proxy" and run.server == "gunicorn":
        settings += f'FORCE_SCRIPT_NAME = "{PREFIX}"\n'
    for name, added in (("settings", settings), ("urls", urls + _URLS)):
        with (folder / "site_" / f"{name}.py").open("a") as file:
            file.write(f"\n{added}")
    return folder


def _command(run: Run, port: int) -> tuple[str, ...]:
    if run.server == "gunicorn":
        return (*_GUNICORN, f"--bind=127.0.0.1:{port}")
    at = f"--port={port}"
    if run.mount == "server":
        return (*_UVICORN, "mounted:application", at)
    root = (f"--root-path={PREFIX}",) if run.mount == "proxy" else ()
    return (*_UVICORN, *root, "site_.asgi:application", at)


@contextmanager
def _database(run: Run) -> Iterator[str]:
    """The lines of the settings that name an own database on the server of PostgreSQL."""
    if run.database == "sqlite":
        yield ""
        return
    parts = urlsplit(POSTGRESQL)
    name = f"{parts.path[1:]}_walk_{os.getpid()}_{next(_NUMBERS)}"
    administration = parts._replace(scheme="postgresql", path="/postgres").geturl()
    drop = f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'
    entry = {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": parts.username or "",
        "PASSWORD": parts.password or "",
        "HOST": parts.hostname or "",
        "PORT": parts.port or "",
    }
    with psycopg.connect(administration, autocommit=True) as connection:
        connection.execute(drop)
        connection.execute(f'CREATE DATABASE "{name}"')
        try:
            yield f"DATABASES = {{'default': {entry}}}\n"
        finally:
            connection.execute(drop)


@contextmanager
def _proxy(behind: int) -> Iterator[int]:
    """A server in front of another one, which removes the prefix from paths; yields its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if not self.path.startswith(f"{PREFIX}/"):
                self.send_error(404)
                return
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            path = self.path.removeprefix(PREFIX)
            status, headers, sent = _request(
                behind, self.command, path, body, dict(self.headers.items())
            )
            self.send_response_only(status)
            for name, value in headers:
                if name.lower() not in _HOP:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    with running(server):
        yield server.server_port


def _request(
    port: int, method: str, path: str, body: bytes = b"", headers: Any = None
) -> tuple[int, Any, bytes]:
    connection = HTTPConnection("127.0.0.1", port, timeout=_PATIENCE)
    try:
        connection.request(method, path, body or None, headers or {"Host": f"localhost:{port}"})
        answer = connection.getresponse()
        return answer.status, answer.getheaders(), answer.read()
    finally:
        connection.close()
