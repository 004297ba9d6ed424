"""What the figures depend on: the machine, the versions, the length of the run."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from argparse import Namespace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from tests.benchmarks import databases, environment

OURS = ("Django", "djangorestframework", "psycopg", "gunicorn", "PyJWT")
PEERS = {
    "dj-rest-auth": "baseline",
    "djangorestframework-simplejwt": "baseline",
    "djoser": "djoser",
    "django-rest-knox": "knox",
    "django-allauth": "allauth",
    "fastapi-users": "fastapi_users",
    "asyncpg": "fastapi_users",
}


def conditions(chosen: Namespace, *, load_before: float) -> str:
    """A paragraph for the page."""
    return (
        f"Measured on {datetime.now(UTC):%Y-%m-%d}: {processor()}, {os.cpu_count()} cores, "
        f"{memory()} GB of memory, load average {load_before:.1f} before; Python "
        f"{platform.python_version()}, PostgreSQL {postgresql(chosen)}, "
        f"{', '.join(f'{name} {version(name)}' for name in OURS)}; medians and ranges of "
        f"{chosen.rounds} rounds of {chosen.seconds} s.\n"
    )


def peers(work_dir: Path) -> str:
    """The versions of the peers whose environments this run has used."""
    found = [f"{name} {each}" for name, each in versions(work_dir).items()]
    return f"Versions of the others: {', '.join(found)}.\n" if found else ""


def versions(work_dir: Path) -> dict[str, str]:
    found = {}
    for name, folder in PEERS.items():
        pattern = f"{folder}-*/lib/python*/site-packages/{name.replace('-', '_')}-*.dist-info"
        for path in sorted(work_dir.glob(pattern), key=lambda path: path.stat().st_mtime):
            found[name] = path.name.removesuffix(".dist-info").rpartition("-")[2]
    lock = json.loads((environment.PEERS / "better_auth" / "package-lock.json").read_text())
    found["better-auth"] = lock["packages"]["node_modules/better-auth"]["version"]
    node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False)
    return {**found, "Node": node.stdout.strip().lstrip("v")}


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def memory() -> int:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1024**3)


def postgresql(chosen: Namespace) -> str:
    with databases.connection(chosen.database_url) as connection:
        return connection.execute("SHOW server_version").fetchone()[0].split()[0]
