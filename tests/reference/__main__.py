"""`python -m tests.reference` writes the pages in docs/reference from the code.

It also writes docs/llms.txt and docs/README.rst. A folder as argument is written to instead. The
pages describe a host with every module installed.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import django

os.environ |= {
    "DJANGO_SETTINGS_MODULE": "tests.settings",
    "TEST_HOST": "everything",
    "DATABASE_URL": "sqlite://:memory:",
}
django.setup()

from tests.reference import (  # noqa: E402
    actions,
    checks,
    commands,
    contents,
    errors,
    files,
    limits,
    llms,
    roles,
    settings,
    signals,
    slots,
)

FOLDER = Path(__file__).parents[2] / "docs/reference"
PAGES = (settings, errors, checks, commands, actions, signals, slots, limits, roles, files)


def write(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for page in PAGES:
        name = page.__name__.rpartition(".")[2]
        (folder / f"{name}.rst").write_text(page.page())


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
    if len(sys.argv) == 1:
        llms.write()
        contents.write()
