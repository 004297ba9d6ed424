"""Markers of tests that need something that not every machine has, with the reason of the skip."""

from __future__ import annotations

import shutil
import socket
from urllib.parse import urlsplit

import pytest
from django.apps import apps
from django.db import connection

several_writers = pytest.mark.skipif(
    connection.vendor == "sqlite",
    reason="SQLite runs one writing transaction at a time, so nothing races for a row",
)

database_server = pytest.mark.skipif(
    connection.vendor == "sqlite", reason="SQLite is no server that goes away"
)

postgresql = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="DATABASE_URL names no PostgreSQL"
)

stateless_login = pytest.mark.skipif(
    apps.is_installed("authservice.session"),
    reason="STATELESS.CHECK is a setting of the stateless module, which is not installed",
)


def program(name: str) -> pytest.MarkDecorator:
    """Skip where a program is not installed, as on a new machine with Python and git alone. The
    slow tests of the clients fail there: `.ci/run` installs what they start."""
    return pytest.mark.skipif(shutil.which(name) is None, reason=f"{name} is not installed")


def service(url: str) -> pytest.MarkDecorator:
    """Skip where no server accepts connections at the host and port of a URL."""
    parts = urlsplit(url)
    place = f"{parts.hostname}:{parts.port}"
    return pytest.mark.skipif(
        not _accepts(str(parts.hostname), int(parts.port or 0)),
        reason=f"no {parts.scheme} server accepts connections at {place}",
    )


def _accepts(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), 1).close()
    except OSError:
        return False
    return True
