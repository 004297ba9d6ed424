"""The page on the architecture agrees with the tree and the import contracts."""

import re
import tomllib
from pathlib import Path

import authservice

TREE = Path(authservice.__file__).parent
ROOT = TREE.parent
PAGE = (ROOT / "docs/architecture.rst").read_text()
LONGEST = 350
# Where Django looks for them, in any module.
STANDARD = {"migrations", "management", "commands"}


def between(heading, end):
    """The text of a section: from a heading to the heading that ends it."""
    text = PAGE.split(f"\n{heading}\n", 1)[1]
    return text.split(f"\n{end}\n", 1)[0]


def listed():
    """The packages that the section on packages names."""
    items = re.findall(r"^- (``.+?``): ", between("Packages", "Mechanisms"), re.MULTILINE)
    return [name for item in items for name in re.findall(r"``([\w/]+)``", item)]


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


def test_page_names_every_package_once():
    named = [*listed(), "core", "kernel/http", "kernel/outbound"]

    assert sorted(named) == sorted(packages())


def test_page_is_short_enough_to_be_read_from_top_to_bottom():
    assert len(PAGE.splitlines()) <= LONGEST


def test_files_named_on_the_page_exist():
    named = set(re.findall(r"``((?:core|kernel|notification)/[\w/]+(?:\.py)?)", PAGE))

    assert len(named) > 20
    assert sorted(path for path in named if not (TREE / path).exists()) == []


def test_page_shows_the_layers_of_the_import_contracts():
    assert drawn() == [contract("authservice"), contract("authservice.core")]
