"""The catalogues of the package: which entries are missing or stale, and how to rewrite them.

Babel reads and writes them, so GNU gettext need not be installed. Files are the same on every
machine: entries are in the order of the files of the package, and there are no dates.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from tests.languages import texts
from tests.languages.texts import ROOT, Text

# Whether a language also has the texts of Django admin.
LANGUAGES = {"de": True, "es": False, "fr": False}
# Not Babel's own rules, which change from version to version.
_PLURALS = {
    "de": "nplurals=2; plural=(n != 1);",
    "es": "nplurals=2; plural=(n != 1);",
    "fr": "nplurals=2; plural=(n > 1);",
}
UPDATE = "python -m tests.languages"
_NEVER = datetime(2000, 1, 1, tzinfo=UTC)
_PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]|%%|</?\w+>")
_HEADER = """\
msgid ""
msgstr ""
"Project-Id-Version: authservice\\n"
"Language: {language}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: {plurals}\\n"

"""
# A text that is the same in another language, as "SMS" may be.
_SAME = "same-in-this-language"


def path_of(app: Path, language: str) -> Path:
    return app / "locale" / language / "LC_MESSAGES/django.po"


def read(path: Path, language: str) -> Catalog:
    if not path.exists():
        return Catalog(locale=language)
    with path.open("rb") as file:
        return read_po(file, locale=language)


def wanted(language: str) -> dict[Path, dict[Text, list[str]]]:
    """The texts of each app that the language must have."""
    with_admin = LANGUAGES[language]
    apps = texts.of_apps()
    return {
        app: {text: places for text, places in found.items() if with_admin or not text.for_staff}
        for app, found in apps.items()
    }


def problems(language: str) -> Iterator[str]:
    """What is wrong with the catalogues of a language, one line each."""
    meanings: dict[Text, object] = {}
    for app, found in wanted(language).items():
        path = path_of(app, language)
        catalogue = read(path, language)
        name = path.relative_to(ROOT)
        for text, places in found.items():
            entry = _entry(catalogue, text)
            for wrong in _wrong(text, entry):
                yield f"{name}: {wrong}: {text.singular!r} ({', '.join(sorted(set(places)))})"
            if entry and meanings.setdefault(text, entry.string) != entry.string:
                yield f"{name}: another module translates this differently: {text.singular!r}"
        for entry in _entries(catalogue):
            if _text(entry) not in found:
                yield f"{name}: no longer in the code: {entry.id!r}"
        compiled = path.with_suffix(".mo")
        if not compiled.exists() or compiled.read_bytes() != _compiled(catalogue):
            yield f"{compiled.relative_to(ROOT)}: not compiled from its .po file"


def update(language: str) -> None:
    """Write all catalogues of a language: without stale entries, with new ones, which are empty
    unless another module has the same text."""
    apps = wanted(language)
    known = {
        _text(entry): entry
        for app in apps
        for entry in _entries(read(path_of(app, language), language))
        if entry.string and all(entry.string)
    }
    for app, found in apps.items():
        path = path_of(app, language)
        after = Catalog(locale=language, fuzzy=False)
        after.mime_headers = [("Plural-Forms", _PLURALS[language])]
        for text, places in found.items():
            _add(after, text, places, known.get(text))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_source(after, language))
        path.with_suffix(".mo").write_bytes(_compiled(read(path, language)))


def _wrong(text: Text, entry: Message | None) -> Iterator[str]:
    if entry is None:
        yield "missing"
        return
    strings = entry.string if isinstance(entry.string, tuple) else (entry.string,)
    if not all(strings):
        yield "not translated"
        return
    if entry.fuzzy:
        yield "marked as fuzzy"
    if _SAME not in entry.flags and any(s in (text.singular, text.plural) for s in strings):
        yield f"the same as the English text (add the comment '#, {_SAME}' if it is meant)"
    expected = set(_PLACEHOLDER.findall(text.plural or text.singular))
    found = [set(_PLACEHOLDER.findall(string)) for string in strings]
    # A singular may leave the number out: "one code".
    if any(one - expected or (expected - one and not text.plural) for one in found):
        yield f"other placeholders than {', '.join(sorted(expected)) or 'none'}"


def _add(catalogue: Catalog, text: Text, places: list[str], known: Message | None) -> None:
    both = (text.singular, text.plural) if text.plural else text.singular
    empty = ("",) * catalogue.num_plurals if text.plural else ""
    kept = known.string if known else empty
    flags = {"python-format"} if re.search(r"%\(\w+\)", text.singular) else set()
    if known and _SAME in known.flags:
        flags.add(_SAME)
    catalogue.add(
        both,
        kept or empty,
        context=text.context or None,
        locations=[(place, None) for place in sorted(set(places))],
        flags=flags,
    )


def _entries(catalogue: Catalog) -> Iterator[Message]:
    return (entry for entry in catalogue if entry.id)


def _entry(catalogue: Catalog, text: Text) -> Message | None:
    return catalogue.get(text.singular, context=text.context or None)


def _text(entry: Message) -> Text:
    singular, plural = entry.id if isinstance(entry.id, tuple) else (entry.id, "")
    return Text(entry.context or "", singular, plural)


def _source(catalogue: Catalog, language: str) -> str:
    written = io.BytesIO()
    write_po(written, catalogue, width=100, omit_header=True, include_lineno=False)
    header = _HEADER.format(language=language, plurals=catalogue.plural_forms)
    return header + written.getvalue().decode().strip() + "\n"


def _compiled(catalogue: Catalog) -> bytes:
    catalogue.creation_date = catalogue.revision_date = _NEVER
    catalogue.project, catalogue.version = "authservice", ""
    catalogue.fuzzy = False
    written = io.BytesIO()
    write_mo(written, _Unversioned(catalogue))
    return written.getvalue()


class _Unversioned:
    """A catalogue whose header does not name the version of Babel, so that each version writes the
    same file."""

    def __init__(self, catalogue: Catalog) -> None:
        self.charset = catalogue.charset
        self._catalogue = catalogue

    def __iter__(self) -> Iterator[Message]:
        header, *entries = self._catalogue
        header.string = re.sub(r"Generated-By: .*\n", "", str(header.string))
        yield header
        yield from entries


def all_problems() -> list[str]:
    return [line for language in LANGUAGES for line in problems(language)]
