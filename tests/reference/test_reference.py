"""The pages in docs/reference are current, complete, and readable without Sphinx."""

import re
from pathlib import Path

import pytest
from docutils.core import publish_doctree

from tests.hosts.runs import ROOT, python

COMMAND = "python -m tests.reference"
FOLDER = ROOT / "docs/reference"
NAMES = [
    "actions",
    "checks",
    "commands",
    "errors",
    "files",
    "limits",
    "roles",
    "settings",
    "signals",
    "slots",
]
ANCHOR = re.compile(r"^\.\. _([\w-]+):$", re.MULTILINE)


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    """A folder with the pages as the code has them now."""
    folder = tmp_path_factory.mktemp("reference")
    run = python("-m", "tests.reference", str(folder))
    assert run.returncode == 0, run.stdout
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_committed_page_is_that_of_the_code(written, name):
    current = (written / f"{name}.rst").read_text()

    assert (FOLDER / f"{name}.rst").read_text() == current, f"Run `{COMMAND}` and commit the pages."


def test_folder_has_no_other_pages(written):
    pages = {f"{name}.rst" for name in NAMES}

    assert {path.name for path in FOLDER.iterdir()} == pages
    assert {path.name for path in written.iterdir()} == pages


@pytest.mark.parametrize("name", NAMES)
def test_page_needs_no_directive_of_sphinx(name):
    """docutils alone renders a page without a warning, as a code host does."""
    text = (FOLDER / f"{name}.rst").read_text()

    publish_doctree(text, settings_overrides={"report_level": 2, "halt_level": 2})


@pytest.mark.parametrize("name", NAMES)
def test_page_is_in_the_table_of_contents(name):
    assert f"\n   reference/{name}\n" in (ROOT / "docs/index.rst").read_text()


def test_anchor_names_one_entry():
    found = [one for name in NAMES for one in ANCHOR.findall((FOLDER / f"{name}.rst").read_text())]

    assert len(found) > 250
    assert sorted(one for one in set(found) if found.count(one) > 1) == []
