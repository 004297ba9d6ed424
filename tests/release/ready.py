"""`python -m tests.release.ready TAG` checks that the tree can be released under this tag.

It needs the standard library only. The steps of a release are in docs/releasing.rst.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_DATED = re.compile(r"^(\d+\.\d+\.\d+) \(\d{4}-\d\d-\d\d\)\n-+$", re.MULTILINE)


def version() -> str:
    """`__version__`, read without importing the package."""
    text = (ROOT / "authservice/__init__.py").read_text()
    found = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    assert found, "authservice/__init__.py has no __version__"
    return found[1]


def client_version() -> str:
    """That of the TypeScript client, which is released with the package."""
    manifest = ROOT / "example_project/clients/typescript/package.json"
    return str(json.loads(manifest.read_text())["version"])


def problems(
    tag: str, version: str, client: str, changelog: str, recorded: set[str]
) -> Iterator[str]:
    """What keeps `version` from being released as `tag`; `client` is the version of the TypeScript
    client, `recorded` are the versions of which tests/upgrade has data."""
    if tag != f"v{version}":
        yield f"The tag is {tag}, and authservice.__version__ is {version}."
    if client != version:
        yield f"example_project/clients/typescript/package.json has the version {client}."
    if version not in _DATED.findall(changelog):
        yield (
            f"docs/changelog.rst has no section `{version} (YYYY-MM-DD)`: rename the section"
            " Unreleased, and underline it with hyphens."
        )
    if version.rpartition(".")[0] not in recorded:
        yield (
            "tests/upgrade has no data of this release: run `python -m tests.upgrade` and commit"
            " what it writes."
        )


def _main(tag: str) -> int:
    recorded = {path.parent.name for path in (ROOT / "tests/upgrade").glob("*/migrations.json")}
    changelog = (ROOT / "docs/changelog.rst").read_text()
    wrong = list(problems(tag, version(), client_version(), changelog, recorded))
    print("\n".join(wrong) or f"{tag} can be released.")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1]))
