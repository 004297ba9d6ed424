"""The language of responses."""

from __future__ import annotations

from tests.mutations.kinds import CORE, Mutation, to

_LANGUAGES = "authservice/kernel/languages.py"
_RESPONSES = ("tests/languages/test_responses.py",)

LANGUAGES = (
    Mutation(
        "The end of a language with its request",
        _LANGUAGES,
        to(
            "    return translation.override(_available(language))",
            "    translation.activate(_available(language))\n    return _UNCHANGED",
        ),
        _RESPONSES,
    ),
    Mutation(
        "The limit on languages that a header names",
        _LANGUAGES,
        to("[:_CONSIDERED]", "[:]"),
        _RESPONSES,
    ),
    Mutation(
        "The language of the rules of Django in a response",
        CORE + "credentials/password_rules.py",
        to("    with languages.of_texts():\n", "    if True:\n"),
        _RESPONSES,
    ),
    Mutation(
        "The English text in place of a broken translation",
        "authservice/kernel/languages.py",
        to("except (KeyError, TypeError, ValueError):", "except ZeroDivisionError:"),
        ("tests/languages/test_phrases.py",),
    ),
)
