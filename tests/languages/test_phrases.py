"""Phrases: English strings that are translated where they are shown."""

import pytest
from django.utils import translation

from authservice.core import errors
from authservice.kernel.errors import Fault, invalid
from authservice.kernel.languages import Phrase, joined, of_field, phrase, translated
from tests.languages.override import overriding


def test_phrase_is_its_english_text():
    rule = phrase("Must have at least %(count)d characters.", count=8)

    assert rule == "Must have at least 8 characters."
    assert f"{rule}" == str(rule) == "Must have at least 8 characters."


def test_error_is_english_outside_responses():
    with translation.override("de"):
        fault = invalid("email", phrase("This field is required."))

        assert str(fault) == fault.message == "email: This field is required."
        assert fault.text == "email: Dieses Feld ist erforderlich."
        assert fault.texts == {"email": ["Dieses Feld ist erforderlich."]}


def test_values_that_are_phrases_are_translated_too():
    both = joined([phrase("Must have a digit."), phrase("Must have an uppercase letter.")])

    with translation.override("de"):
        assert translated(of_field("password", [both])) == (
            "password: Muss eine Ziffer enthalten. Muss einen Großbuchstaben enthalten."
        )


def test_value_of_the_client_is_neither_translated_nor_formatted():
    given = phrase('"%(given)s" is not a valid choice.', given="The link is not valid. %(given)s")

    with translation.override("de"):
        assert translated(given) == (
            "„The link is not valid. %(given)s“ ist keine gültige Auswahl."
        )


def test_text_of_the_project_stays_as_it_is():
    class Closed(Fault):
        message = "Wir haben geschlossen: 100 %(sicher)s."

    with translation.override("de"):
        assert Closed().text == "Wir haben geschlossen: 100 %(sicher)s."
        assert translated(Phrase("100 %")) == "100 %"


@pytest.mark.parametrize("broken", ["Muss %(zahl)d Zeichen lang sein.", "100 % %(count)z", "%d"])
def test_broken_translation_of_the_project_is_replaced_by_english(settings, tmp_path, broken):
    text = "Must have at least %(count)d characters."

    with overriding(settings, tmp_path, {text: broken}):
        assert translated(phrase(text, count=8)) == "Must have at least 8 characters."


def test_project_overrides_a_text(settings, tmp_path):
    with overriding(settings, tmp_path, {"The link is not valid.": "Der Link geht nicht."}):
        assert errors.InvalidLink().text == "Der Link geht nicht."
