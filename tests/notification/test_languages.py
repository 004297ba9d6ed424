"""A message is in the language of its recipient."""

from datetime import datetime

import pytest
from django.utils import translation

from authservice.notification.mail import moment

pytestmark = pytest.mark.django_db


def german(user):
    return "de"


def no_preference(user):
    return ""


def broken(user):
    raise LookupError(user.email)


@pytest.fixture
def written_in(deliver, settings, tmp_path, ann):
    """`written_in(language)` is the language that is active while the message is rendered."""
    template = tmp_path / "authservice/notification/verify-email/subject.txt"
    template.parent.mkdir(parents=True)
    template.write_text("{% load i18n %}{% get_current_language as code %}{{ code }}")
    settings.TEMPLATES = [
        {"BACKEND": "django.template.backends.django.DjangoTemplates", "DIRS": [tmp_path]}
    ]
    return lambda language="": deliver("verify-email", language=language).subject


def test_message_is_in_the_language_of_the_request(written_in):
    assert written_in("fr") == "fr"


def test_regional_variant_falls_back_to_its_language(written_in):
    assert written_in("fr-ca") == "fr"


@pytest.mark.parametrize("code", ["", "xx", "../../etc", "d" * 5000])
def test_unknown_language_falls_back_to_the_language_of_the_project(written_in, settings, code):
    settings.LANGUAGE_CODE = "it"

    assert written_in(code) == "it"


def test_hook_of_the_host_overrides_the_language_of_the_request(written_in, notify):
    notify(LANGUAGE="tests.notification.test_languages.german")

    assert written_in("fr") == "de"


def test_hook_without_a_result_keeps_the_language_of_the_request(written_in, notify):
    notify(LANGUAGE="tests.notification.test_languages.no_preference")

    assert written_in("fr") == "fr"


def test_error_in_the_hook_is_logged_and_the_message_is_sent(written_in, notify, logged):
    notify(LANGUAGE="tests.notification.test_languages.broken")

    assert written_in("fr") == "fr"
    assert logged("NOTIFICATION.LANGUAGE") == ["NOTIFICATION.LANGUAGE failed: LookupError"]


def test_language_of_the_thread_is_not_changed(written_in):
    with translation.override("es"):
        written_in("fr")

        assert translation.get_language() == "es"


def test_german_message_is_entirely_in_german(ann, deliver):
    mail = deliver("reset-link", language="de")

    assert mail.subject == "testserver: Wählen Sie ein neues Passwort"
    assert mail.body.startswith("Guten Tag,")
    assert "Gültigkeit dieses Links: 1 Stunde." in mail.body
    assert '<html lang="de" dir="ltr">' in mail.alternatives[0][0]


def test_message_without_a_translation_is_entirely_in_english(mark_verified, deliver):
    mark_verified()

    mail = deliver("new-device", language="it", details={"at": "2030-01-02T03:04:05Z"})

    assert mail.body.startswith("Hello Ann,")
    assert "Time: 2030-01-02 03:04 UTC" in mail.body


@pytest.mark.parametrize("at", ["2030-01-02T03:04:05.678901", datetime(2030, 1, 2, 3, 4, 5)])
def test_time_of_a_host_with_naive_times_is_shown_in_utc(settings, at):
    settings.USE_TZ, settings.TIME_ZONE = False, "Asia/Kathmandu"  # 5:45 ahead of UTC

    assert moment(at) == "2030-01-01 21:19 UTC"


def test_text_that_is_no_time_is_shown_as_it_is():
    assert moment("yesterday") == "yesterday"
