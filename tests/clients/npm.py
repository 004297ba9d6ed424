"""The clients of the example project with their npm packages, compiled.

The packages are installed once per lock file, into a folder below the temporary folder that all
workers and runs share. The tree itself stays without `node_modules`.

`python -m tests.clients.npm` renews the types that are generated from docs/openapi.yaml.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.clients.servers import Services
from tests.hosts.runs import ROOT

CLIENTS = ROOT / "example_project" / "clients"
SCHEMA = Path("typescript", "src", "schema.ts")
DESCRIPTION = ROOT / "docs" / "openapi.yaml"
COMMAND = "python -m tests.clients.npm"
_MANIFESTS = ("package.json", "package-lock.json", "*/package.json")
_DEFAULT_URL = "http://localhost:8000/auth"
_PAGE = """<!doctype html><title>Client</title><script type="module">
import * as client from "/client.js";
window.client = client;
</script>"""
_IGNORED = shutil.ignore_patterns("node_modules", "dist", "build")


def output(*command: str, folder: Path, **variables: str) -> tuple[int, str]:
    """The exit code and the output of a command."""
    finished = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return finished.returncode, finished.stdout


def run(*command: str, folder: Path, **variables: str) -> str:
    """The output of a command; raises `AssertionError` with it if the command fails."""
    code, printed = output(*command, folder=folder, **variables)
    assert code == 0, printed
    return printed


def packages(source: Path = CLIENTS) -> Path:
    """The `node_modules` of the lock file in `source`."""

    def install(cache: Path) -> None:
        for path in manifests:
            target = cache / path.relative_to(source)
            target.parent.mkdir(exist_ok=True)
            shutil.copy(path, target)
        # No package needs its install script.
        run("npm", "ci", "--ignore-scripts", folder=cache)

    manifests = sorted(path for pattern in _MANIFESTS for path in source.glob(pattern))
    return installed(manifests, install) / "node_modules"


def installed(manifests: list[Path], install: Callable[[Path], None]) -> Path:
    """The folder of these manifests, in which the first call of all processes calls `install`."""
    key = hashlib.sha256(b"".join(path.read_bytes() for path in manifests)).hexdigest()[:16]
    cache = Path(tempfile.gettempdir(), f"authservice-npm-{os.getuid()}-{key}")
    cache.mkdir(mode=0o700, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (cache / "installed").exists():
            install(cache)
            (cache / "installed").touch()
    return cache


def copied(folder: Path) -> Path:
    """A copy of the clients in `folder`, with their packages, to compile and bundle them in."""
    clients = folder / "clients"
    shutil.copytree(CLIENTS, clients, ignore=_IGNORED)
    own = clients / "node_modules"
    own.mkdir()
    for package in packages().iterdir():
        if package.name != "@authservice":
            (own / package.name).symlink_to(package)
    (own / "@authservice").mkdir()
    (own / "@authservice" / "client").symlink_to(clients / "typescript")
    return clients


def bundle(clients: Path, services: Services) -> None:
    """Bundle the client and both examples into the pages of the services."""
    pages, url = services.folder, services.bearer.url
    esbuild = ("node_modules/.bin/esbuild", "--bundle", "--format=esm")
    run(*esbuild, "typescript/dist/index.js", f"--outfile={pages}/client.js", folder=clients)
    (pages / "index.html").write_text(_PAGE)
    react = pages / "react"
    run(
        *(*esbuild, "--jsx=automatic", "react/src/main.tsx", f"--outfile={react}/dist/main.js"),
        f"--define:API_URL={json.dumps(services.cookies.url)}",
        '--define:process.env.NODE_ENV="production"',
        folder=clients,
    )
    shutil.copy(clients / "react" / "index.html", react)
    (pages / "browser").mkdir()
    page = (clients / "browser" / "index.html").read_text()
    assert page.count(_DEFAULT_URL) == 1
    (pages / "browser" / "index.html").write_text(page.replace(_DEFAULT_URL, url))


def generate(clients: Path) -> None:
    """Write the types of the API into `clients`, with the digest of their description on top."""
    command = ("node_modules/.bin/openapi-typescript", str(DESCRIPTION))
    run(*command, "--output", str(SCHEMA), folder=clients)
    types = clients / SCHEMA
    types.write_text(f"{digest_line()}\n{types.read_text()}")


def digest_line() -> str:
    """The first line of the types: which version of the description they were made from."""
    digest = hashlib.sha256(DESCRIPTION.read_bytes()).hexdigest()
    return f"// From docs/openapi.yaml with SHA-256 {digest}."


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        made = copied(Path(temporary))
        generate(made)
        shutil.copy(made / SCHEMA, CLIENTS / SCHEMA)
