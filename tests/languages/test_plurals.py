"""A text about a number of things has a singular and a plural."""

import ast
import re

import pytest

from authservice.core.management.command_line import counted
from authservice.kernel.languages import phrase_count, translated
from tests.languages import texts
from tests.languages.texts import PACKAGE, ROOT

# Limits that are always above one.
LIMITS = {
    "Must have at least %(count)d characters.",
    "Must have at least %(count)d characters without a second factor.",
    "Must have at most %(count)d characters.",
    "Must not exceed %(count)d bytes.",
    "Must not contain more than %(count)d combining marks in a row.",
    "Ensure this field has no more than %(max_length)d characters.",
}
NUMBER = re.compile(r"%\((?:count|number|more|all|left|total|\w+(?=\)d))\)[ds]")
# Of the words that follow a number, the noun is one of the first three.
PLURAL = re.compile(
    r" (?:(?!of\b|and\b|to\b|was\b|is\b)[a-z-]+ ){0,2}(?!was\b|is\b|this\b)[a-z]+s\b"
)
COMMANDS = sorted(PACKAGE.rglob("management/**/*.py"))
NOUNS = (
    "accounts|addresses|attempts|backups|codes|conflicts|entries|groups|indexes|invitations|keys"
    "|links|mails|members|notices|organizations|partitions|passwords|permissions|rows|sessions"
    "|tokens|users"
)


def unpluralized(text):
    """Whether a number is followed by a plural, so that 1 would read wrongly."""
    return any(PLURAL.match(text, number.end()) for number in NUMBER.finditer(text))


def of_command(source):
    """What commands write: texts with `{}` for each value."""
    inside = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            inside |= {id(part) for part in node.values}
            yield "".join(
                getattr(part, "value", "") if _is_text(part) else "{}" for part in node.values
            )
        elif _is_text(node) and id(node) not in inside:
            yield re.sub(r"\{\w*\}|%d|%\(\w+\)d", "{}", node.value)


def _is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def faults(source):
    return [
        text for text in of_command(source) if re.search(rf"\{{\}} (?:\w+ )?(?:{NOUNS})\b", text)
    ]


def test_translated_texts_with_a_number_have_a_plural():
    without = {
        text.singular
        for app in texts.of_apps().values()
        for text in app
        if not text.plural and unpluralized(text.singular)
    }

    assert without - LIMITS == set()
    assert LIMITS - without == set()


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_write_no_number_before_a_fixed_plural(path):
    assert faults(path.read_text()) == []


@pytest.mark.parametrize(
    "source",
    [
        'write(f"Ended {number} sessions.")',
        'write(f"{number} expired rows deleted")',
        'write("{} users".format(number))',
        'write("%d users" % number)',
    ],
)
def test_fixed_plural_in_a_command_is_found(source):
    assert faults(source)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ended %(count)d sessions.", True),
        ("%(locked)d of %(all)d accounts were locked.", True),
        ("Deleted %(count)d expired entries.", True),
        ("Deleted %(count)d entry.", False),
        ("%(email)s is marked as verified.", False),
        ("Skipped %(count)d: only superusers may do this.", False),
    ],
)
def test_fixed_plural_in_a_text_is_found(text, found):
    assert unpluralized(text) is found


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 addresses"), (1, "1 address"), (2, "2 addresses")]
)
def test_command_output_has_singular_and_plural(number, text):
    assert counted(number, "address", "addresses") == text


@pytest.mark.parametrize(("number", "text"), [(0, "0 entries"), (1, "1 entry"), (2, "2 entries")])
def test_text_of_the_api_counts_in_english(number, text):
    made = phrase_count("Deleted %(count)d entry.", "Deleted %(count)d entries.", number)

    assert made == translated(made) == f"Deleted {text}."
