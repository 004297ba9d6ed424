"""Creates a Django project by commands and by the instructions of the README."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.snippets.blocks import of_page
from tests.support.ports import free_port
from tests.support.processes import output_of

ROOT = Path(__file__).resolve().parents[2]
_PATIENCE = 30  # seconds until a server without response fails the test
_USERS = """
import uuid
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import AbstractUser
from django.db import models
"""
MODELS = {
    "auth_user": "",
    "uuid_user": """
class User(AbstractUser):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
""",
    "email_user": """
class User(AbstractBaseUser):
    email = models.EmailField(unique=True)
    objects = BaseUserManager()
    USERNAME_FIELD = "email"
""",
}


def outside() -> dict[str, str]:
    """The environment without variables of this test run."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("DJANGO_", "PYTHON"))}


def run(*command: str | Path, cwd: Path | None = None) -> str:
    """Run a command that must succeed, and return its output."""
    return output_of(*command, variables=outside(), folder=cwd)


def environment_with(wheel: Path, folder: Path) -> Path:
    """Create a virtual environment with the wheel and its requirements; returns its `bin`."""
    run(sys.executable, "-m", "venv", folder)
    run(folder / "bin" / "pip", "install", "-q", f"{wheel}[postgres]")
    return folder / "bin"


def readme() -> tuple[str, str, str]:
    """What the README adds to a project: settings, URLconf, and a protected view."""
    lines, view = [one.code for one in of_page("README.rst") if one.language == "python"]
    settings, urls = lines.split("# urls.py\n")
    return settings, urls, view


class Project:
    """A Django project on disk."""

    def __init__(self, programs: Path, folder: Path, kind: str, databases: str) -> None:
        self._programs, self._folder, self._admin = programs, folder, not MODELS[kind]
        folder.mkdir()
        run(programs / "django-admin", "startproject", "site_", folder)
        if databases:
            self.add("settings.py", f"DATABASES = {databases}\n")
        if MODELS[kind]:
            self._add_users(MODELS[kind])

    def _add_users(self, model: str) -> None:
        self.manage("startapp", "people")
        (self._folder / "people" / "models.py").write_text(_USERS + model)
        # Django admin requires more fields of a user model than an address.
        self.add("settings.py", 'INSTALLED_APPS.remove("django.contrib.admin")\n')
        self.add("settings.py", 'INSTALLED_APPS.append("people")\n')
        self.add("settings.py", 'AUTH_USER_MODEL = "people.User"\n')
        (self._folder / "site_" / "urls.py").write_text(
            "from django.urls import path\n\nurlpatterns = []\n"
        )
        self.manage("makemigrations", "people")

    def add(self, file: str, text: str) -> None:
        with (self._folder / "site_" / file).open("a") as opened:
            opened.write(text)

    def install(self) -> None:
        """Add the lines of the README and nothing else."""
        settings, urls, view = readme()
        if not self._admin:
            urls = "".join(line for line in urls.splitlines(True) if "protect" not in line)
        route = re.search(r'path\(".*?", views\.\w+\)', view)
        assert route, "the view has no address"
        self.add("settings.py", settings)
        self.add("urls.py", f"{urls}from site_ import views\nurlpatterns += [{route[0]}]\n")
        self.add("views.py", view)

    def manage(self, *arguments: str) -> str:
        return run(self._programs / "python", "manage.py", *arguments, cwd=self._folder)

    def script(self, text: str) -> list[str]:
        """Run a script in the project and return the words of its last line of output."""
        return self.manage("shell", "-c", text).splitlines()[-1].split()

    @contextmanager
    def served(self) -> Iterator[str]:
        """Run the server and yield the URL of the API."""
        port = free_port()
        server = subprocess.Popen(
            [self._programs / "python", "manage.py", "runserver", "--noreload", str(port)],
            cwd=self._folder,
            env=outside(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _wait_for(port)
            yield f"http://127.0.0.1:{port}/auth/"
        finally:
            server.terminate()
            server.wait()


def _wait_for(port: int) -> None:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the server does not answer")


def post(url: str, **body: Any) -> tuple[int, Any]:
    """Status and `data` of a POST request to the server."""
    return call("POST", url, body)


def call(method: str, url: str, body: Any = None, token: str = "") -> tuple[int, Any]:
    """Status and `data` of a request to the server."""
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    raw = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, raw, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
            return answer.status, json.load(answer)["data"]
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, json.load(refused)["data"]
