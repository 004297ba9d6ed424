"""`python -m tests.release.contents DIST` compares the archives in DIST with the source tree.

The source distribution must contain every file of the repository, and the wheel every file of
`authservice` and nothing else. It needs Git and the standard library.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parents[2]
# Git's own, and files of the repository that setuptools writes anew.
NOT_PACKED = {".gitignore"}
WRITTEN_BY_SETUPTOOLS = ("PKG-INFO", "setup.cfg", "authservice.egg-info/")


def of_repository() -> set[str]:
    """The files that Git tracks or would add."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return {name for name in listed.stdout.splitlines() if (ROOT / name).exists()}


def of_source(archive: Path) -> set[str]:
    with tarfile.open(archive) as packed:
        names = {one.name.partition("/")[2] for one in packed.getmembers() if one.isfile()}
    return {name for name in names if not name.startswith(WRITTEN_BY_SETUPTOOLS)}


def of_wheel(archive: Path) -> set[str]:
    with ZipFile(archive) as packed:
        names = packed.namelist()
    return {name for name in names if ".dist-info/" not in name}


def problems(repository: set[str], source: set[str], wheel: set[str]) -> Iterator[str]:
    ours = {name for name in repository if name.startswith("authservice/")}
    compared = {
        "the source distribution": (repository - NOT_PACKED, source),
        "the wheel": (ours, wheel),
    }
    for archive, (expected, found) in compared.items():
        yield from (f"{archive} lacks {name}" for name in sorted(expected - found))
        yield from (f"{archive} must not have {name}" for name in sorted(found - expected))


def _main(folder: Path) -> int:
    [source], [wheel] = folder.glob("*.tar.gz"), folder.glob("*.whl")
    found = of_wheel(wheel)
    wrong = list(problems(of_repository(), of_source(source), found))
    print("\n".join(wrong) or f"{wheel.name}: {len(found)} files")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(_main(Path(sys.argv[1])))
