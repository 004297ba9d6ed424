"""A virtual environment for each side, created once and reused.

Ours has one too: a development environment contains packages that the REST framework imports if it
finds them, which costs memory and time at start-up.
"""

import hashlib
import shutil
import subprocess
import sys
import tomllib
import venv
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tests.benchmarks.errors import BenchmarkError

ROOT = Path(__file__).parents[2]
BASELINE = Path(__file__).parent / "baseline" / "requirements.txt"
PEERS = Path(__file__).parent / "peers"
EXAMPLE = ROOT / "example_project" / "requirements.txt"

# The same versions on both sides, so that only the code under comparison differs.
SHARED = ("Django", "djangorestframework", "PyJWT", "psycopg[binary]", "gunicorn")

EXTRAS = ("argon2", "phone", "postgres")
EXTRAS_OF_MODULES = ("twofactor", "oauth")
EXTRAS_OF_CACHES = ("redis",)
# Of the example's packages, those of its mail server and OpenID provider, which are processes of
# their own. Among what these require is Jinja2, which Django loads if it is installed.
OTHER_PROCESSES = ("aiosmtpd", "oidc-provider-mock")


def ours(work_dir: Path, *, modules: str, login: str = "stateless") -> Path:
    """The Python interpreter of an environment with the dependencies of the example project."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    # Only what the chosen modules need: the REST framework loads `requests` where it is installed,
    # and oauth requires it.
    extras = EXTRAS + tuple(name for name in EXTRAS_OF_MODULES if name in modules.split(","))
    extras = (*extras, *EXTRAS_OF_CACHES) if login == "cache" else extras
    optional = [line for extra in extras for line in project["optional-dependencies"][extra]]
    example = [line for line in listed(EXAMPLE) if not line.startswith(OTHER_PROCESSES)]
    return made(work_dir, "ours", [*project["dependencies"], *optional, *example])


def baseline(work_dir: Path) -> Path:
    """The Python interpreter of an environment with the baseline."""
    return made(work_dir, "baseline", listed(BASELINE))


def listed(path: Path) -> list[str]:
    """The requirements in a file, except this project itself, which the checkout provides."""
    lines = (line.partition("#")[0].strip() for line in path.read_text().splitlines())
    return [line for line in lines if line and not line.startswith(("authservice", ".", "-"))]


def peer(work_dir: Path, name: str, *, django: bool) -> Path:
    """The Python interpreter of an environment with a package of ``peers/``."""
    requirements = listed(PEERS / name / "requirements.txt")
    return made(work_dir, name, requirements, shared=SHARED if django else ())


def node(work_dir: Path, name: str) -> Path:
    """A copy of the Node project ``peers/NAME`` with its locked packages installed."""
    source = PEERS / name
    texts = [path.read_text() for path in sorted(source.iterdir()) if path.is_file()]
    home = work_dir / f"{name}-{fingerprint(texts)}"
    if not (home / "finished").exists():
        print(f"installing into {home}", flush=True)
        shutil.copytree(source, home, dirs_exist_ok=True)
        if subprocess.run(["npm", "ci", "--silent"], cwd=home, check=False).returncode:
            raise BenchmarkError("npm ci failed")
        (home / "finished").touch()
    return home


def made(
    work_dir: Path, name: str, requirements: list[str], shared: tuple[str, ...] = SHARED
) -> Path:
    wanted = [*requirements, *map(as_running, shared)]
    home = work_dir / f"{name}-{fingerprint(wanted)}"
    python, finished = home / "bin" / "python", home / "finished"
    if not finished.exists():
        print(f"installing into {home}", flush=True)
        venv.create(home, with_pip=True, clear=True)
        install(python, wanted)
        finished.touch()
    return python


def as_running(name: str) -> str:
    """A requirement that pins the version installed here."""
    try:
        return f"{name}=={version(name.partition('[')[0])}"
    except PackageNotFoundError as error:
        raise BenchmarkError(f"{name} is not installed here: take the extra `dev`") from error


def fingerprint(wanted: list[str]) -> str:
    return hashlib.sha256("\n".join([sys.version, *wanted]).encode()).hexdigest()[:12]


def install(python: Path, wanted: list[str]) -> None:
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted]
    if subprocess.run(command, check=False).returncode:
        raise BenchmarkError("the installation failed")
