"""Pages for users begin with what the reader wants and a snippet, and leave the inside to
contributors."""

import re

import pytest

from tests.reference import pages
from tests.snippets.blocks import of_page

PARTS = [
    "Start",
    "Pages",
    "Your views",
    "Your front end",
    "Your users",
    "Modules",
    "Recipes",
    "Running it",
    "Security",
    "Troubleshooting",
    "Reference",
    "Contributing",
]
USERS = PARTS[: PARTS.index("Reference")]
INSIDE = re.compile(
    r"one door|:doc:`[^`]*architecture|<[./]*architecture\.rst"
    # The main app. Not a name such as `authservice.core`, an anchor, "axe-core" or "OpenID Connect
    # Core"; nor the cores of a processor, which have an article or a number.
    r"|(?<![\w./-])(?<!Connect )(?<!\ba )(?<!one )(?<!each )(?<!per )[Cc]ore\b(?![-/])"
    # A file or a folder of the package, but not a test, nor the file of sources in one's own app.
    r"|``(?:authservice/)?(?:kernel|core|importing|oauth)/(?![\w/]*test_|sources\.py)"
    # Reasons for choices, tools of the tests and texts for translators of this package.
    r"|\nWhy (?:not )?[\w-]+\n-|schemathesis|phrase_count|catalogues\.py"
)
SLOT = re.compile(r"\bslots?\b", re.IGNORECASE)
# Pages about apps of one's own, which fill slots; the checks of such apps and the list of changes
# name them too.
ABOUT_SLOTS = ("reference/slots", "reference/checks", "public", "versioning", "changelog")
SNIPPET_BEFORE = 30
# Pages that need no snippet at their start, with the reason.
NO_SNIPPET = {
    "comparison": "a table of packages",
    "not_included": "a table of features; lines that combine packages follow it",
    "glossary": "a list of words",
    "coming_from/index": "a list of pages",
    "recovery": "a table of situations",
    "running/sizing": "a table of figures",
    "security": "a table of promises",
    "troubleshooting": "a list of symptoms",
    "questions": "a list of questions",
    "reference/actions": "a list of actions",
    "reference/roles": "a table of permissions",
    "reference/slots": "a list of signatures; the page of public names has an example",
    "public": "a list of names",
    "versioning": "a table of promises",
    "changelog": "a list of changes",
}


def of_users():
    parts = pages.by_caption()
    return [name for part in USERS for name in parts[part]]


def read_by_users():
    return [*of_users(), *pages.by_caption()["Reference"]]


def test_parts_are_those_for_users_and_then_those_for_contributors():
    assert list(pages.by_caption()) == PARTS


@pytest.mark.parametrize("name", read_by_users())
def test_page_begins_with_what_the_reader_wants(name):
    body = re.split(r"\n=+\n\n", pages.text(name), maxsplit=1)[1]

    assert body.startswith("You want "), body[:80]


@pytest.mark.parametrize("name", read_by_users())
def test_page_has_a_snippet_near_its_start(name):
    first = next(iter(of_page(f"docs/{name}.rst")), None)

    is_near = bool(first) and first.line < SNIPPET_BEFORE
    assert is_near != (name in NO_SNIPPET)


@pytest.mark.parametrize("name", read_by_users())
def test_page_for_users_has_no_word_of_the_architecture(name):
    text = pages.text(name)

    assert not INSIDE.search(text)
    assert name in ABOUT_SLOTS or not SLOT.search(text)


def test_pages_that_may_name_slots_do():
    assert [name for name in ABOUT_SLOTS if not SLOT.search(pages.text(name))] == []


@pytest.mark.parametrize(
    ("text", "is_inside"),
    [
        ("Called by the one door.", True),
        ("The sessions are those of core.", True),
        ("Core owns the rows.", True),
        ("See ``core/sessions/sessions.py``.", True),
        ("as ``core.credentials.attempt_counter.Counter``", True),
        ("Install ``authservice.core``.", False),
        (":ref:`setting-core-allow-signup`", False),
        ('AUTHSERVICE["CORE"] = {}', False),
        ("two workers per core, and 50 logins for each core", False),
        ("social-auth-core and OpenID Connect Core 1.0", False),
    ],
)
def test_pattern_of_the_architecture_finds_only_its_words(text, is_inside):
    assert bool(INSIDE.search(text)) == is_inside


def test_recovery_begins_with_a_table_of_situations():
    assert ".. list-table::" in pages.text("recovery").split("\n---")[0]
