"""The two projects that are compared, and how to run a program in either."""

import os
import subprocess
from argparse import Namespace
from dataclasses import dataclass, field
from pathlib import Path

from tests.benchmarks import wires
from tests.benchmarks.environment import ROOT
from tests.benchmarks.errors import BenchmarkError


@dataclass(frozen=True, kw_only=True)
class Side:
    """A project with its own interpreter, settings and database."""

    name: str
    python: Path
    settings: str
    wsgi: str
    database_url: str
    wire: wires.Wire
    extra: dict[str, str] = field(default_factory=dict)
    # The command of a server other than gunicorn's sync workers; "{port}" is replaced.
    server: tuple[str, ...] = ()

    @property
    def environment(self) -> dict[str, str]:
        # As on a server, modules are compiled once, not at each start. pip compiles those of the
        # baseline; ours are in the checkout.
        inherited = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        return {
            **inherited,
            "DJANGO_SETTINGS_MODULE": self.settings,
            "DATABASE_URL": self.database_url,
            **self.extra,
        }

    def run(self, module: str, *arguments: str) -> str:
        """The output of ``python -m module`` under this side's interpreter and settings."""
        return self.execute([str(self.python), "-m", module, *arguments])

    def execute(self, command: list[str]) -> str:
        ended = subprocess.run(
            command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False
        )
        if ended.returncode:
            raise BenchmarkError(f"{self.name}: {command} failed\n{ended.stderr[-3000:]}")
        return ended.stdout


# AUTHSERVICE_LOGIN and AUTHSERVICE_SESSION_STORE for each choice of --login.
LOGINS = {
    "stateless": ("stateless", "database"),
    "session": ("session", "database"),
    "cache": ("session", "cache"),
}


def ours(database_url: str, *, python: Path, options: Namespace, hasher: str = "") -> Side:
    login, store = LOGINS[options.login]
    return Side(
        name="ours",
        python=python,
        settings="tests.benchmarks.settings",
        wsgi="example_project.wsgi:application",
        database_url=database_url,
        wire=wires.OURS,
        extra={
            "AUTHSERVICE_LOGIN": login,
            "AUTHSERVICE_MODULES": options.modules,
            "AUTHSERVICE_SESSION_STORE": store,
            "BENCHMARK_HASHER": hasher,
            **({"CACHE_URL": options.redis_url} if store == "cache" else {}),
        },
    )


def baseline(database_url: str, *, python: Path, sessions: bool) -> Side:
    return Side(
        name="baseline",
        python=python,
        settings="tests.benchmarks.baseline.settings",
        wsgi="tests.benchmarks.baseline.wsgi:application",
        database_url=database_url,
        wire=wires.BASELINE,
        extra={"BENCHMARK_SESSION_LOGIN": "1" if sessions else "0"},
    )
