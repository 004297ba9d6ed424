"""Words of the project's former idiom are not used: see "Words" in docs/contributing.rst."""

import ast
import re
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.support.sources import parsed, paths

ROOT = Path(__file__).resolve().parents[2]
READ = ("authservice", "example_project", "docs", "tests", "README.rst", ".github", ".ci")
BINARY = {".mo", ".png"}
THIS = "tests/architecture/"

# Each with the standard term instead.
WORDS = {
    "deed deeds": "action",
    "told": "notified, recorded",
    "hear hears heard": "receive, listen",
    "stands standing": "is valid",
    "road roads": "way to log in",
    "crosswise": "deadlock",
    "rubbish": "expired rows",
    "letter letters": "e-mail, message",
    "newcomer newcomers": "new user",
    "stranger strangers": "unknown client, attacker",
    "mint mints minted minting": "issue",
    "outlast outlasts": "retry",
    "reign reigns reigning": "is active",
    "judge judges judged judging": "check",
    "guess guesses guessed": "attempt",
    "ticket tickets": "one-time token",
    "whoever": "the client, the user",
}
PHRASES = {
    "put off": "defer",
    "in vain": "failed, dummy",
    "lets go of": "references",
    "let go of": "references",
    "at hand": "available",
    "for ever": "permanently",
    "besides us": "other installed packages",
    "goes along": "in the same statement",
}
# These are words of the sentence around a thing. As a name, each makes a reader look for that
# sentence to learn what the thing is: `wrong` was an error, `kept` a session, `theirs` the name of
# a provider.
NO_NAMES = (
    *("asked", "found", "further", "given", "held", "kept", "known", "left", "one", "ours"),
    *("said", "taken", "theirs", "told", "wanted", "what", "who", "wrong"),
)
# The setting INVITATION.KEPT: projects write the name of this field.
SETTINGS = {("authservice/invitation/conf.py", "kept")}
_TERMS = {word: term for words, term in WORDS.items() for word in words.split()}
_PIECES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def files():
    listed = subprocess.run(
        ["git", "ls-files", *READ], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    return [
        name for name in listed if Path(name).suffix not in BINARY and not name.startswith(THIS)
    ]


def found(text):
    """The words and phrases of the lists in a text, in names of any style too."""
    plain = " ".join(text.lower().replace("_", " ").split())
    words = Counter(piece.lower() for piece in _PIECES.findall(text))
    counted = {word: words[word] for word in _TERMS if words[word]}
    phrases = {phrase: len(re.findall(rf"\b{phrase}\b", plain)) for phrase in PHRASES}
    return counted | {phrase: count for phrase, count in phrases.items() if count}


@cache
def uses():
    """`path: word` of each file and word of the lists in it."""
    return {f"{name}: {word}" for name in files() for word in found((ROOT / name).read_text())}


def exceptions():
    """The uses that were reviewed and stay, such as letters of the alphabet."""
    lines = (ROOT / THIS / "plain_words_exceptions.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_the_search_finds_words_in_names_and_phrases_across_lines():
    text = "def _tell_newcomer(): pass  # put\noff"

    assert found(text) == {"newcomer": 1, "put off": 1}


def test_no_file_uses_a_word_of_the_lists_without_an_exception():
    assert sorted(uses() - set(exceptions())) == []


def test_the_exceptions_are_few_and_in_use():
    assert len(exceptions()) <= 40
    assert sorted(set(exceptions()) - uses()) == []


def bindings(tree):
    """The names that the code binds, each with its line."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name, node.lineno
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, node.lineno
            case ast.ClassDef(name=name) | ast.arg(arg=name) | ast.alias(asname=str(name)):
                yield name, node.lineno
            case ast.ExceptHandler(name=str(name)) | ast.MatchMapping(rest=str(name)):
                yield name, node.lineno
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name, node.lineno


@cache
def sentence_words():
    """(path, name, line) of each binding in the package that has one of these words as its name."""
    files_of_package = (path for path in paths() if "migrations" not in path.parts)
    return [
        (path.relative_to(ROOT).as_posix(), name, line)
        for path in files_of_package
        for name, line in bindings(parsed(path))
        if name.strip("_") in NO_NAMES
    ]


@pytest.mark.parametrize(
    "code",
    [
        "kept = 1",
        "first, *kept = row",
        "kept: int",
        "kept += 1",
        "(kept := 1)",
        "person.kept = 1",
        "class Row:\n    kept: int = 0",
        "class kept: pass",
        "def kept(): pass",
        "async def kept(): pass",
        "def act(kept): pass",
        "def act(*kept): pass",
        "def act(*, kept=None): pass",
        "def act(**kept): pass",
        "lambda kept: None",
        "for kept in rows: pass",
        "{row for kept in rows}",
        "with lock as kept: pass",
        "try: act()\nexcept Error as kept: pass",
        "from rows import row as kept",
        "match row:\n    case [1, kept]: pass",
        "match row:\n    case [1, *kept]: pass",
        "match row:\n    case {1: 2, **kept}: pass",
    ],
)
def test_name_is_seen_however_it_is_bound(code):
    assert "kept" in [name for name, _ in bindings(ast.parse(code))]


def test_names_say_what_a_thing_is():
    faults = [
        f"{file}:{line}: {name} is a word of the sentence around the thing. Name the thing itself,"
        ' such as error, user or extra_fields: see "Words" in docs/contributing.rst.'
        for file, name, line in sentence_words()
        if (file, name) not in SETTINGS
    ]

    assert not faults, "\n".join(faults)


def test_names_of_settings_that_are_excepted_exist():
    assert {(file, name) for file, name, _ in sentence_words()} >= SETTINGS
