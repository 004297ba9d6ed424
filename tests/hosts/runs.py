"""Runs Python and pytest in a host. Django reads the host at its start, so each has a process."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[2]
# For slow runs that are about the settings of a host. What depends on the database runs on each.
SQLITE = {"DATABASE_URL": "sqlite://:memory:"}
# For suites that run in full on SQLite or in another host.
_SAMPLE = ("-p", "tests.support.sample")
# Only the plugins that the tests use: each process would import every further one.
_PLUGINS = {
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "PYTEST_PLUGINS": "pytest_django.plugin,pytest_timeout,time_machine",
}


def python(*arguments: str, host: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    """`python …` from the root of the project, in the given host."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**_outside(os.environ, host), **_PLUGINS, "TEST_HOST": host, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def holds(
    *arguments: str, host: str = "", sample: bool = False, migrate: bool = True, **variables: str
) -> None:
    """Run pytest with these arguments in the given host, with one case of each test function if
    *sample*, or if this run is a sample itself; a failure shows the names of the failed tests
    first. Without *migrate*, SQLite gets its tables from the models, which saves a fifth of the
    start. `test_drift.py` checks that migrations and models agree, and hosts with *migrate* run the
    migrations of every module."""
    sample = sample or bool(os.environ.get("SAMPLE"))
    plain = ("-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider")
    # Other databases have in addition what only migrations make.
    database = {**os.environ, **variables}.get("DATABASE_URL", "sqlite")
    models = ("--nomigrations",) if not migrate and database.startswith("sqlite") else ()
    added = (*(_SAMPLE if sample else ()), *models)
    ran = python(*plain, *added, *arguments, host=host, **variables)

    failed = re.findall(r"^(?:FAILED|ERROR) .*$", ran.stdout, re.MULTILINE)
    assert ran.returncode == 0, "\n".join([*failed, ran.stdout])


def left_to(test: str, request: pytest.FixtureRequest) -> None:
    """Skip a test if the other one, by its name, is in this run too: that one runs the same files,
    in one process with those of further folders. A run of one folder has this test alone."""
    if any(item.name == test for item in request.session.items):
        pytest.skip(f"{test} runs these files")


def _outside(environment: Mapping[str, str], host: str) -> dict[str, str]:
    """The environment without variables of this test run, and with the name of another database."""
    kept = {
        name: value
        for name, value in environment.items()
        if not name.startswith(("PYTEST_", "COV_"))
        and name not in ("DJANGO_SETTINGS_MODULE", "SHARE")
    }
    worker = environment.get("PYTEST_XDIST_WORKER", "")
    if url := environment.get("DATABASE_URL"):
        kept["DATABASE_URL"] = _renamed(url, "_".join(filter(None, [worker, host or "plain"])))
    return kept


def _renamed(url: str, suffix: str) -> str:
    parts = urlsplit(url)
    if parts.scheme.startswith("sqlite"):
        return url  # in memory, or a file that the test run replaces with memory
    return parts._replace(path=f"{parts.path}_{suffix}").geturl()
