"""Write the lowest version of every dependency that pyproject.toml allows, as constraints for pip:

python -m tests.release.lowest >lowest.txt
pip install --constraint lowest.txt -e '.[dev]'
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.version import Version

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
# A name, its extras, and the versions that are allowed.
_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?:\[[\w,]+\])?(?P<versions>.*)")
_LOWER_BOUND = re.compile(r">=(?P<version>[\w.]+)")


class NoLowerBound(Exception):
    """A dependency whose lowest version is not known."""


def constraints(project: dict[str, Any]) -> Iterator[str]:
    """A line for each dependency of the package and of its extras; the highest of its bounds, if an
    extra needs a newer version than the package."""
    lowest: dict[str, Version] = {}
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    for requirement in (one for requirements in lists for one in requirements):
        name, versions = _REQUIREMENT.fullmatch(requirement).group("name", "versions")
        if name == project["name"]:
            continue  # a list of further extras
        bound = _LOWER_BOUND.search(versions)
        if bound is None:
            raise NoLowerBound(f"{requirement!r} needs a lower bound: '{name}>=…'")
        version = Version(bound["version"])
        lowest[name] = max(version, lowest.get(name, version))
    for name, version in lowest.items():
        yield f"{name}=={version}"


if __name__ == "__main__":
    for line in constraints(tomllib.loads(PYPROJECT.read_text())["project"]):
        print(line)
