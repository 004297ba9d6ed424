"""`docs/llms.txt`, which is served with the docs, lists every page with a sentence."""

import re

import pytest

from tests.reference import llms, pages

# The line below a heading, or that of a table.
UNDERLINE = re.compile(r"[=~-]{3}")
LINE = re.compile(r"- \[.+\]\(\S+\.html\): \S.*\.")


def test_list_is_that_of_the_table_of_contents():
    assert llms.FILE.read_text() == llms.text(), "Run `python -m tests.reference` and commit it."


def test_every_line_has_a_link_and_a_sentence():
    lines = [line for line in llms.FILE.read_text().splitlines() if line.startswith("- ")]

    assert len(lines) == len(pages.names()) - 1
    assert [line for line in lines if not LINE.fullmatch(line) or UNDERLINE.search(line)] == []


def test_every_page_is_in_the_table_of_contents():
    found = [name for names in pages.by_caption().values() for name in names]

    assert sorted(found) == [name for name in pages.names() if name != "index"]


@pytest.mark.parametrize("name", [name for name in pages.names() if name != "index"])
def test_new_page_would_get_its_first_sentence(name):
    sentence = llms.first_sentence(name)

    assert re.fullmatch(r"\S.+\.", sentence)
    assert not UNDERLINE.search(sentence)


def test_sphinx_serves_the_list():
    assert 'html_extra_path = ["llms.txt"]' in (pages.DOCS / "conf.py").read_text()
