"""The mail about changes by staff says what was changed, and has no link."""

import pytest

from tests.admin_api.people import ANN, ROOT, Admin, Committing
from tests.people import the_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def changed(ann, deliver):
    """`changed("email")` is the mail about such a change."""

    def mail(*fields, language=""):
        details = {"user_id": str(the_user().pk), "changed": fields, "at": "2030-01-02T03:04:05Z"}
        return deliver("changed-by-staff", language=language, details=details)

    return mail


@pytest.mark.parametrize(
    ("field", "words"),
    [("email", "e-mail address"), ("phone_number", "phone number"), ("password", "new password")],
)
def test_changed_by_staff_names_the_change(changed, field, words):
    mail = changed(field)

    assert mail.subject == "testserver: support changed your account"
    assert words in mail.body
    assert words in mail.alternatives[0][0]
    assert "Time: 2030-01-02 03:04 UTC" in mail.body


def test_changed_by_staff_brings_no_link(changed):
    mail = changed("email", "phone_number")

    assert "http" not in mail.body
    assert "e-mail address" in mail.body
    assert "phone number" in mail.body


def test_changed_by_staff_is_translated(changed):
    assert "Der Support hat die Telefonnummer" in changed("phone_number", language="de").body


# From the request of staff to the mail


@pytest.fixture
def root(notify, db):
    """A super admin of the API."""
    notify(DISPATCHER="inline")
    return Admin(Committing(), ROOT)


LANGUAGES = pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "Support changed the {} of your account."),
        ("de", "Der Support hat die {} Ihres Kontos geändert."),
    ],
)
ADDRESS = {"en": "e-mail address", "de": "E-Mail-Adresse"}
NUMBER = {"en": "phone number", "de": "Telefonnummer"}


def sent_to(address, mailoutbox):
    [mail] = [mail for mail in mailoutbox if mail.to == [address]]
    return mail


@LANGUAGES
def test_address_changed_over_the_api_is_mailed_to_the_former_one(
    root, proven, mailoutbox, settings, language, words
):
    settings.LANGUAGE_CODE = language
    user = proven()

    assert root.put(str(user.pk), email="new@example.com").status == 200

    mail = sent_to(ANN, mailoutbox)
    assert words.format(ADDRESS[language]) in mail.body
    assert words.format(ADDRESS[language]) in mail.alternatives[0][0]
    assert NUMBER[language] not in mail.body


@LANGUAGES
def test_number_changed_over_the_api_is_mailed_to_the_owner(
    root, proven, mailoutbox, settings, language, words
):
    settings.LANGUAGE_CODE = language
    user = proven()

    assert root.put(str(user.pk), phone_number="+4930123457").status == 200

    mail = sent_to(ANN, mailoutbox)
    assert words.format(NUMBER[language]) in mail.body
    assert ADDRESS[language] not in mail.body
