"""Each module page has a drawing of its flow, made from a text, for light and for dark pages."""

import re
from xml.etree import ElementTree

import pytest

from tests.drawings import flows, sequence
from tests.reference import pages

# These pages list modules and providers, and have no flow of their own.
WITHOUT = {"modules", "oauth_providers"}
# The pages of the apps in the table of docs/modules.rst, some of which are in other parts.
LISTED = re.compile(r"^     - `[^`]+? <(\S+)\.rst>`__$", re.MULTILINE)
SHOWN = re.compile(r"\.\. image:: (?:\.\./)?flows/(\S+)\n   :class: only-(\w+)\n   :alt: (\S.+)\n")


def test_drawings_are_those_of_the_texts():
    stored = {path.name: path.read_text() for path in flows.FOLDER.glob("*.svg")}

    assert stored == flows.drawn(), "Run `python -m tests.drawings` and commit the pictures."


def test_every_module_page_has_a_flow():
    listed = set(LISTED.findall(pages.text("modules")))

    assert {"pages", "running/metrics", "coming_from/simplejwt"} < listed
    assert (
        set(map(flows.page_of, flows.names()))
        == (listed | set(pages.by_caption()["Modules"])) - WITHOUT
    )


@pytest.mark.parametrize("name", flows.names())
def test_page_shows_both_drawings_with_the_same_words(name):
    light, dark = SHOWN.findall(pages.text(flows.page_of(name)))

    assert [light[:2], dark[:2]] == [(f"{name}-light.svg", "light"), (f"{name}-dark.svg", "dark")]
    assert light[2] == dark[2]


@pytest.mark.parametrize("name", flows.names())
def test_drawing_fits_the_page_and_nothing_leaves_it(name):
    text = (flows.FOLDER / f"{name}.txt").read_text()
    root = ElementTree.fromstring(sequence.draw(text, "light", name))

    assert float(root.get("width")) <= 900
    for shape in root.iter("{http://www.w3.org/2000/svg}rect"):
        left = float(shape.get("x"))
        assert 0 <= left <= left + float(shape.get("width")) <= float(root.get("width"))


def test_participant_that_does_nothing_is_refused():
    with pytest.raises(AssertionError):
        sequence.read("Browser | Service | Nobody\nBrowser > Service: GET /me")


def test_message_has_an_arrow_in_its_direction_and_its_text():
    picture = sequence.draw("A | B\nA > B: a < b\nB > A: answer", "dark", "Title")

    there, back = re.findall(r'd="M(\d+) \d+H(\d+)m', picture)
    assert int(there[0]) < int(there[1])
    assert int(back[0]) > int(back[1])
    assert "a &lt; b" in picture
