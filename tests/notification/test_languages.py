"""A letter is written in the language of its reader."""

from pathlib import Path

import pytest
from django.utils import translation

from authservice import notification

pytestmark = pytest.mark.django_db


def german(user):
    return "de"


def no_preference(user):
    return ""


def broken(user):
    raise LookupError(user.email)


@pytest.fixture
def written_in(deliver, settings, tmp_path, ann):
    """`written_in(language)`: the language that templates of the job's letter find active."""
    place = tmp_path / "authservice/notification/verify-email/subject.txt"
    place.parent.mkdir(parents=True)
    place.write_text("{% load i18n %}{% get_current_language as code %}{{ code }}")
    settings.TEMPLATES = [
        {"BACKEND": "django.template.backends.django.DjangoTemplates", "DIRS": [tmp_path]}
    ]
    return lambda language="": deliver("verify-email", language=language).subject


def test_the_language_of_the_request_counts(written_in):
    assert written_in("fr") == "fr"


def test_a_variant_falls_back_to_its_language(written_in):
    assert written_in("fr-ca") == "fr"


@pytest.mark.parametrize("code", ["", "xx", "../../etc", "d" * 5000])
def test_without_one_that_is_known_the_projects_language_counts(written_in, settings, code):
    settings.LANGUAGE_CODE = "it"

    assert written_in(code) == "it"


def test_the_host_knows_best(written_in, notify):
    notify(LANGUAGE="tests.notification.test_languages.german")

    assert written_in("fr") == "de"


def test_a_user_without_a_preference_reads_the_language_of_the_request(written_in, notify):
    notify(LANGUAGE="tests.notification.test_languages.no_preference")

    assert written_in("fr") == "fr"


def test_a_broken_hook_costs_no_letter(written_in, notify, logged):
    notify(LANGUAGE="tests.notification.test_languages.broken")

    assert written_in("fr") == "fr"
    assert logged("NOTIFICATION.LANGUAGE") == ["NOTIFICATION.LANGUAGE failed: LookupError"]


def test_the_language_of_the_thread_is_left_as_it_was(written_in):
    with translation.override("es"):
        written_in("fr")

        assert translation.get_language() == "es"


def test_german_letters_are_german_all_through(ann, deliver):
    mail = deliver("reset-link", language="de")

    assert mail.subject == "testserver: Wählen Sie ein neues Passwort"
    assert mail.body.startswith("Guten Tag,")
    assert "Gültigkeit dieses Links: 1 Stunde." in mail.body
    assert '<html lang="de" dir="ltr">' in mail.alternatives[0][0]


def test_a_language_without_a_translation_is_english_all_through(proven, deliver):
    proven()

    mail = deliver("new-device", language="fr", details={"at": "2030-01-02T03:04:05Z"})

    assert mail.body.startswith("Hello Ann,")
    assert "Time: 2030-01-02 03:04 UTC" in mail.body


def test_every_text_has_its_german():
    catalogue = Path(notification.__file__).parent / "locale/de/LC_MESSAGES"
    entries = (catalogue / "django.po").read_text().split("\n\n")[1:]

    assert entries
    assert [entry for entry in entries if entry.rstrip().endswith('msgstr ""')] == []
    assert not any("#, fuzzy" in entry for entry in entries)
