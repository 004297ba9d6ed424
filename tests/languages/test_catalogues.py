"""Every text of the package is translated, and the tool that lists what is not finds each fault."""

import ast
from pathlib import Path

import django
import pytest
from babel.messages.catalog import Catalog

from authservice.kernel import errors
from authservice.kernel.languages import ADMIN, API
from tests.languages import catalogues, texts
from tests.languages.texts import PACKAGE, ROOT, Text
from tests.support.sources import parsed

# An older Django translates fewer of the texts that our pages of Django admin share with its own.
newest_django = pytest.mark.skipif(
    django.VERSION[:2] < (6, 1),
    reason="The catalogues leave out what the newest Django translates.",
)


@newest_django
@pytest.mark.parametrize("language", catalogues.LANGUAGES)
def test_every_text_is_translated(language):
    left = list(catalogues.problems(language))

    assert left == [], (
        f"\n{len(left)} entries of the {language!r} catalogues are not complete. Run"
        f" `{catalogues.UPDATE}`, translate what it lists, and run it again:"
        " docs/translating.rst.\n" + "\n".join(left)
    )


@newest_django
def test_catalogues_are_as_the_tool_writes_them():
    written = {path: path.read_bytes() for path in PACKAGE.glob("*/locale/*/LC_MESSAGES/*")}
    try:
        for language in catalogues.LANGUAGES:
            catalogues.update(language)

        changed = [path for path, before in written.items() if path.read_bytes() != before]
    finally:
        for path, before in written.items():
            path.write_bytes(before)

    assert changed == [], f"Run `{catalogues.UPDATE}` and commit the catalogues."


def test_texts_include_every_error_and_every_kind_of_text():
    found = {text for app in texts.of_apps().values() for text in app}

    messages = {Text(API, fault.message) for fault in errors.catalogue() if _ours(fault)}
    assert messages <= found
    assert Text("mail", "%(count)d day", "%(count)d days") in found
    assert Text(ADMIN, "Ended %(count)d session.", "Ended %(count)d sessions.") in found
    assert Text("", "Confirm your address") in found
    assert len(found) > 300


def _ours(fault):
    return fault.__module__.startswith("authservice.")


@pytest.mark.parametrize(
    ("english", "german", "other"),
    [("suspend", "deaktivier", "sperr"), ("reactivate", "aktivier", "sperr")]
    + [(word, "sperr", "deaktivier") for word in ("locked", "unlock", "lockout")],
)
def test_german_tells_suspended_from_locked(english, german, other):
    """Staff must know from one word whether a button of theirs or the time ends it."""
    catalogued = [
        (message.id, str(message.string).lower())
        for app in texts.of_apps()
        for message in catalogues.read(catalogues.path_of(app, "de"), "de")
        if english in str(message.id).lower()
    ]

    assert catalogued
    assert [text for text, found in catalogued if german not in found or other in found] == []


TEXT = Text(API, "Must have %(count)d characters.")


@pytest.mark.parametrize(
    ("translation", "fault"),
    [
        ("", "not translated"),
        ("Must have %(count)d characters.", "the same as the English text"),
        ("Muss %(number)d Zeichen haben.", "other placeholders"),
        ("Muss Zeichen haben.", "other placeholders"),
        ("Muss %(count)s Zeichen haben.", "other placeholders"),
    ],
)
def test_faulty_translation_is_reported(translation, fault):
    catalogue = Catalog(locale="de")
    catalogue.add(TEXT.singular, translation, context=API)

    assert any(wrong.startswith(fault) for wrong in catalogues._wrong(TEXT, _only(catalogue)))


def test_good_translation_is_not_reported():
    catalogue = Catalog(locale="de")
    catalogue.add(TEXT.singular, "Muss %(count)d Zeichen haben.", context=API)

    assert list(catalogues._wrong(TEXT, _only(catalogue))) == []
    assert list(catalogues._wrong(TEXT, None)) == ["missing"]


def _only(catalogue):
    return next(entry for entry in catalogue if entry.id)


def test_text_that_is_not_a_literal_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(texts, "ROOT", tmp_path)
    file = tmp_path / "views.py"
    file.write_text("from authservice.kernel.languages import phrase as _\n_(f'Hello {name}')\n")

    with pytest.raises(texts.NotLiteral, match="views.py:2"):
        list(texts.of_python(file))


def test_python_code_uses_texts_with_a_context():
    """A text without a context would take over the translations of the project."""
    python = [path for path in PACKAGE.rglob("*.py") if "migrations" not in path.parts]
    bare = {
        f"{path.relative_to(ROOT)}: {text.singular}"
        for path in python
        for text in texts.of_python(path)
        if not text.context
    }

    outside = {text for text in bare if not text.startswith(PAGES)}
    assert outside == set(), "Use `phrase`, `admin_text` or `pgettext`."


def test_messages_of_errors_and_answers_are_marked():
    """A plain string or an f-string as the message of an error or an answer has no translation."""
    faults = {fault.__name__ for fault in errors.catalogue() if _ours(fault)}
    plain = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Call) and _name(node) in faults:
                plain += [_place(path, node) for given in node.args[:1] if _is_text(given)]
            elif isinstance(node, ast.Dict):
                pairs = zip(node.keys, node.values, strict=True)
                plain += [_place(path, node) for key, value in pairs if _is_message(key, value)]

    assert [place for place in plain if place.split(":")[0] not in ENGLISH] == []


def _name(call):
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def _is_text(node):
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(node.value)
    )


def _is_message(key, value):
    return isinstance(key, ast.Constant) and key.value == "message" and _is_text(value)


def _place(path: Path, node):
    return f"{path.relative_to(ROOT)}:{node.lineno}"


# Headings of pages, which are in the same catalogue as the templates of the pages.
PAGES = "authservice/pages/texts.py"
# The description of the API.
ENGLISH = {f"authservice/openapi/{name}.py" for name in ("document", "examples", "refusals")}
