from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest

from tests.wheel.projects import MODELS, ROOT, Project, environment_with, run

USERS = 1000
SHARING = 5  # pairs of users with the same address in different case

# Real hashes with one iteration, which takes a thousandth of the time; old projects have such.
_POPULATE = f"""
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import PBKDF2PasswordHasher
User, hasher = get_user_model(), PBKDF2PasswordHasher()
named = User.USERNAME_FIELD == "username"
def user(number, email):
    password = hasher.encode(f"old password {{number}}", "saltsaltsalt", iterations=1)
    name = {{"username": f"user{{number}}"}} if named else {{}}
    return User(email=email, password=password, **name)
emails = [f"user{{number}}@example.com" for number in range({USERS - SHARING})]
emails += [f"USER{{number}}@example.com" for number in range({SHARING})]
User.objects.bulk_create(user(*entry) for entry in enumerate(emails))
sharing = User.objects.filter(email__in=emails[:{SHARING}] + emails[-{SHARING}:])
print(*sharing.values_list("pk", flat=True))
"""


@dataclass
class MigratedHost:
    """A running project that had users before authservice, and the output of the sync commands."""

    kind: str
    url: str
    sharing: list[str]
    dry_run: str
    synced: str

    @property
    def named(self) -> bool:
        return self.kind != "email_user"


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    # From a copy: the build creates folders in the source tree.
    source.mkdir()
    for name in ("pyproject.toml", "README.rst", "LICENSE", "MANIFEST.in"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "authservice", source / "authservice")
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder / "dist", source)
    [built] = (folder / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="session")
def programs(wheel, tmp_path_factory):
    return environment_with(wheel, tmp_path_factory.mktemp("environment") / "venv")


@pytest.fixture(scope="module", params=MODELS)
def host(request, programs, tmp_path_factory) -> Iterator[MigratedHost]:
    folder = tmp_path_factory.mktemp(request.param)
    with database(request.param) as databases:
        project = Project(programs, folder / "project", request.param, databases)
        project.manage("migrate")
        sharing = project.script(_POPULATE)
        project.install()
        project.manage("migrate")
        dry_run = project.manage("authservice_sync_accounts", "--dry-run")
        synced = project.manage("authservice_sync_accounts")
        with project.served() as url:
            yield MigratedHost(request.param, url, sharing, dry_run, synced)


@contextmanager
def database(kind: str) -> Iterator[str]:
    """`DATABASES` of a project with its own database; empty for the default SQLite file."""
    parts = urlsplit(os.environ.get("DATABASE_URL", ""))
    if not parts.scheme.startswith("postgres"):
        yield ""
        return
    import psycopg

    name = f"{parts.path[1:]}_wheel_{kind}"
    administration = parts._replace(scheme="postgresql", path="/postgres").geturl()
    drop = f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'
    with psycopg.connect(administration, autocommit=True) as connection:
        connection.execute(drop)
        connection.execute(f'CREATE DATABASE "{name}"')
        entry = {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": name,
            "USER": parts.username or "",
            "PASSWORD": parts.password or "",
            "HOST": parts.hostname or "",
            "PORT": parts.port or "",
        }
        try:
            yield repr({"default": entry})
        finally:
            connection.execute(drop)
