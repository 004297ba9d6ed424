"""`python -m tests.openapi.whole` writes docs/openapi.yaml: the API with every module installed, as
clients without CSRF tokens use it."""

from __future__ import annotations

from pathlib import Path

from tests.hosts.runs import ROOT, python

FILE = ROOT / "docs" / "openapi.yaml"
COMMAND = "python -m tests.openapi.whole"


def whole() -> str:
    """The output of `manage.py authservice_openapi` in a host with every module."""
    printed = python(
        *("-m", "django", "authservice_openapi", "--without-guards", "--skip-checks"),
        host="everything",
        DJANGO_SETTINGS_MODULE="tests.settings",
        DATABASE_URL="sqlite://:memory:",
    )
    assert printed.returncode == 0, printed.stdout
    # A warning of Python would come first, and the file would not be YAML.
    assert printed.stdout.startswith("openapi:"), printed.stdout
    return printed.stdout


def write(file: Path = FILE) -> None:
    file.write_text(whole())


if __name__ == "__main__":
    write()
