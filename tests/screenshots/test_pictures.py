"""The pictures of the docs are those that the script makes, and pages show them."""

import re

from tests.hosts.runs import ROOT
from tests.screenshots.pictures import FOLDER, LARGEST, PICTURES


def test_folder_has_the_pictures_of_the_script():
    assert {path.name for path in FOLDER.iterdir()} == PICTURES


def test_pictures_are_small():
    sizes = {name: (FOLDER / name).stat().st_size for name in PICTURES}

    assert {name: size for name, size in sizes.items() if size > LARGEST} == {}


def test_every_picture_is_shown_with_a_text_for_those_who_do_not_see_it():
    pages = "".join(path.read_text() for path in (ROOT / "docs").rglob("*.rst"))
    shown = re.findall(r"\.\. image:: (?:\.\./)*images/(\S+)\n(?: +:\w+: .*\n)*? +:alt: \S", pages)

    assert set(shown) == PICTURES
