"""Words of the project's former idiom are not used: see "Words" in docs/contributing.rst."""

import re
import subprocess
from collections import Counter
from pathlib import Path

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
