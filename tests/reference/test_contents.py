"""`docs/README.rst` lists every page, for readers on a code host."""

from docutils.core import publish_doctree
from docutils.nodes import reference, section, title

from tests.reference import contents, pages
from tests.reference.test_links import WRITTEN


def parsed():
    """The page as a code host reads it, where any warning is an error."""
    halting = {"report_level": 2, "halt_level": 2}
    return publish_doctree(contents.FILE.read_text(), settings_overrides=halting)


def test_list_is_that_of_the_table_of_contents():
    written = contents.FILE.read_text()

    assert written == contents.text(), "Run `python -m tests.reference` and commit it."


def test_list_has_the_parts_of_the_index_with_a_plain_link_to_each_page():
    parts = {
        part.next_node(title).astext(): [link["refuri"] for link in part.findall(reference)]
        for part in parsed().findall(section)
    }

    assert parts == {
        caption: [f"{name}.rst" for name in names] for caption, names in pages.by_caption().items()
    }


def test_links_of_the_list_are_tested():
    assert "docs/README.rst" in WRITTEN


def test_sphinx_leaves_the_list_out():
    assert '"README.rst"' in (pages.DOCS / "conf.py").read_text()
