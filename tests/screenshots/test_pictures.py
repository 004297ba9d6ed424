"""The pictures of the docs are those that the script makes, and pages show them; the pages of the
account look as in their pictures."""

import re

import pytest

from tests.hosts.runs import ROOT, SQLITE, holds
from tests.screenshots import comparison
from tests.screenshots.pictures import ALL_STATES, FOLDER, LARGEST, PICTURES

# Compares the pages of the account, in a host whose preview has each of them.
STATES = ("-m", "slow", "tests/screenshots/inside", "--ds=tests.pages.settings")


def test_folder_has_the_pictures_of_the_script():
    assert {path.name for path in FOLDER.iterdir()} == PICTURES


def test_pictures_are_small():
    sizes = {name: (FOLDER / name).stat().st_size for name in PICTURES}

    assert {name: size for name, size in sizes.items() if size > LARGEST} == {}


def test_every_picture_is_shown_with_a_text_for_those_who_do_not_see_it():
    pages = "".join(path.read_text() for path in (ROOT / "docs").rglob("*.rst"))
    shown = re.findall(r"\.\. image:: (?:\.\./)*images/(\S+)\n(?: +:\w+: .*\n)*? +:alt: \S", pages)

    assert set(shown) == PICTURES


@pytest.mark.slow
def test_pages_look_as_in_their_pictures():
    holds(*STATES, **SQLITE)


def test_pictures_of_all_states_are_small():
    assert sum(path.stat().st_size for path in comparison.FOLDER.iterdir()) < ALL_STATES
