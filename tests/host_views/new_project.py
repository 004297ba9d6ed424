"""A new project whose own views are protected by the lines of docs/views.rst, on real servers."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from tests.host_views import recipes
from tests.hosts.runs import ROOT
from tests.hosts.servers import own_database
from tests.support.ports import free_port
from tests.support.processes import environment, output_of, started, wait_for

SETTINGS = "tests.host_views.measured"
ORIGIN = "https://api.example.com"
SERVERS = {
    "WSGI": ("gunicorn", "site_.wsgi", "--bind=127.0.0.1:{port}"),
    "ASGI": ("uvicorn", "site_.asgi:application", "--log-level=warning", "--port={port}"),
}
OWN = {
    "views.py": """\
from django.http import JsonResponse
from rest_framework.permissions import IsAuthenticated
from rest_framework.response import Response
from rest_framework.views import APIView


class Rest(APIView):
    permission_classes = [IsAuthenticated]

    def get(self, request):
        return Response({"email": request.user.email})


def plain(request):
    return JsonResponse({"email": request.user.email})


async def later(request):
    user = await request.auser()
    return JsonResponse({"email": user.email})
""",
    "api.py": """\
from ninja import NinjaAPI

api = NinjaAPI()


@api.get("/invoices")
def invoices(request):
    return {"email": request.user.email}


@api.get("/export")
async def export(request):
    user = await request.auser()
    return {"email": user.email}
""",
    "urls.py": """\
from django.urls import path

from site_ import views
from site_.api import api

urlpatterns = [
    path("rest", views.Rest.as_view()),
    path("plain", views.plain),
    path("later", views.later),
    path("api/", api.urls),
]
""",
}
VIEWS = ("/rest", "/plain", "/later", "/api/invoices", "/api/export")


def protected(files: dict[str, str]) -> dict[str, str]:
    """The files after the lines of the page."""
    added: dict[str, list[str]] = {}
    for line in recipes.block("# views.py: then").splitlines():
        if line.startswith("# "):
            name = line.split()[1].removesuffix(":")
        elif line:
            added.setdefault(name, []).append(line)
    (api,) = added.pop("api.py")
    after = dict(files)
    after["api.py"] = files["api.py"].replace("api = NinjaAPI()", api)
    imports = "\n".join(added.pop("views.py"))
    guarded = files["views.py"].replace("\ndef ", "\n@login_required\ndef ")
    after["views.py"] = f"{imports}\n{guarded}".replace("\nasync", "\n@login_required\nasync")
    for name, lines in added.items():
        after[name] = files[name] + "\n".join(lines) + "\n"
    return after


@dataclass(frozen=True)
class Answer:
    status: int
    body: Any
    statements: list[str]


class Client:
    """A client of a server of the project; it keeps cookies, and sends a token if it has one."""

    def __init__(self, port: int) -> None:
        self.port, self.token = port, ""
        self.cookies: dict[str, str] = {}

    def copy(self, port: int) -> Client:
        """A client of another server, with the same cookies and token."""
        other = Client(port)
        other.token, other.cookies = self.token, dict(self.cookies)
        return other

    def get(self, path: str) -> Answer:
        return self._send("GET", path, {})

    def post(self, path: str, **body: Any) -> Any:
        """The `data` of the response of the service, which must be a success."""
        pair = self.get("/auth/csrf-token").body["data"]["csrf_token"]
        headers = {"Content-Type": "application/json", "X-CSRF-Token": pair, "Origin": ORIGIN}
        answer = self._send("POST", f"/auth/{path}", headers, json.dumps(body))
        assert answer.status < 300, answer.body
        return answer.body["data"]

    def _send(self, method: str, path: str, headers: dict[str, str], body: str = "") -> Answer:
        kept = [f"{name}={value}" for name, value in self.cookies.items()]
        token = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            sent = {**headers, **token, **({"Cookie": "; ".join(kept)} if kept else {})}
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            for cookie in answer.headers.get_all("Set-Cookie") or ():
                name, _, value = cookie.partition(";")[0].partition("=")
                self.cookies[name] = value
            statements = json.loads(answer.headers["X-Statements"])
            return Answer(answer.status, json.loads(answer.read()), statements)
        finally:
            connection.close()


@dataclass(frozen=True)
class Project:
    """The running project: the port of each server, and its files before and after the lines."""

    ports: dict[str, int]
    before: dict[str, str]
    after: dict[str, str]


@contextmanager
def running(folder: Path) -> Iterator[Project]:
    """Create the project, and run it under both servers on one database."""
    python = partial(output_of, sys.executable, folder=folder)
    python("-m", "django", "startproject", "site_", folder, variables=environment())
    settings = (folder / "site_" / "settings.py").read_text()
    before = {"settings.py": settings, **OWN}
    after = protected(before)
    for name, text in after.items():
        (folder / "site_" / name).write_text(text)
    with own_database("views", folder) as url, ExitStack() as stack:
        paths = os.pathsep.join(map(str, (folder, ROOT)))
        variables = environment(DATABASE_URL=url, DJANGO_SETTINGS_MODULE=SETTINGS, PYTHONPATH=paths)
        python("manage.py", "migrate", "--verbosity=0", variables=variables)
        ports = {}
        for name, (module, *command) in SERVERS.items():
            ports[name] = port = free_port()
            log = folder / f"{module}.log"
            arguments = [part.format(port=port) for part in command]
            server = started("-m", module, *arguments, log=log, variables=variables, folder=folder)
            stack.enter_context(server)
        for name, port in ports.items():
            wait_for(partial(Client(port).get, VIEWS[0]), folder / f"{SERVERS[name][0]}.log")
        yield Project(ports, before, after)
