"""The page on the architecture agrees with the tree and the import contracts."""

import re
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

import authservice

TREE = Path(authservice.__file__).parent
ROOT = TREE.parent
PAGE = (ROOT / "docs/architecture.rst").read_text()
# Where Django looks for them, in any module; the page says so in one sentence.
STANDARD = {"migrations", "management", "commands"}


def between(heading, end):
    """The text of a section: from a heading to the heading that ends it."""
    text = PAGE.split(f"\n{heading}\n", 1)[1]
    return text.split(f"\n{end}\n", 1)[0]


def listed():
    """The terms below each heading of the section on packages."""
    terms, heading = defaultdict(list), ""
    lines = between("Packages", "Mechanisms").splitlines()
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line and following and set(following) == {"~"}:
            heading = line
        elif found := re.fullmatch(r"``([\w/.]+)``", line):
            terms[heading].append(found[1])
    return terms


def files_below(folder):
    """Python files of a folder and of those folders in it that have no heading of their own."""
    headings = {TREE / name for name in listed()}
    found = (path for path in folder.rglob("*.py") if path.name != "__init__.py")
    return sorted(
        path.relative_to(folder).as_posix()
        for path in found
        if "migrations" not in path.parts
        and not any(folder in one.parents and one in path.parents for one in headings)
    )


def packages():
    return {
        path.parent.relative_to(TREE).as_posix()
        for path in TREE.glob("*/**/__init__.py")
        if not STANDARD.intersection(path.parts)
    }


def contract(container):
    """The layers of the import contract of a package, a line for each."""
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    [layers] = [one["layers"] for one in tool["contracts"] if one.get("containers") == [container]]
    return [" ".join(re.sub(r"[()]", "", layer).split()) for layer in layers]


def drawn():
    """The layers that the page shows, for each of its two pictures."""
    blocks = re.findall(r"code-block:: text\n\n((?:   .+\n)+)", between("Layers", "Requests"))
    return [[line.strip() for line in block.splitlines()] for block in blocks]


def test_page_names_every_package():
    headings = {name for name in listed() if (TREE / name).is_dir()}
    ordinary = {name for name in headings if not STANDARD.intersection(name.split("/"))}

    assert ordinary | set(listed()["Modules"]) == packages()


@pytest.mark.parametrize(
    "package", sorted(path for path in packages() if path.split("/")[0] in ("core", "kernel"))
)
def test_package_of_core_or_kernel_has_a_heading(package):
    assert package in listed()


@pytest.mark.parametrize(
    "package", sorted(name for name in listed() if name.split("/")[0] in ("core", "kernel"))
)
def test_page_names_every_file_of_core_and_kernel(package):
    assert sorted(listed()[package]) == files_below(TREE / package)


def test_page_names_every_top_level_file():
    found = sorted(path.name for path in TREE.glob("*.py") if path.name != "__init__.py")

    assert sorted(listed()["authservice"]) == found


def test_files_named_elsewhere_on_the_page_exist():
    named = set(re.findall(r"``((?:core|kernel|notification)/[\w/]+(?:\.py)?)", PAGE))

    assert len(named) > 20
    assert sorted(path for path in named if not (TREE / path).exists()) == []


def test_page_shows_the_layers_of_the_import_contracts():
    assert drawn() == [contract("authservice"), contract("authservice.core")]
