"""The e-mail about changes by staff names the changed fields and has no link."""

import pytest

from tests.admin_api.people import ANN, ROOT, Admin
from tests.support.flows import CommittingApi
from tests.support.people import the_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def changed(ann, deliver):
    """`changed("email")` is the e-mail about a change of this field."""

    def mail(*fields, language=""):
        details = {"user_id": str(the_user().pk), "changed": fields, "at": "2030-01-02T03:04:05Z"}
        return deliver("changed-by-staff", language=language, details=details)

    return mail


@pytest.mark.parametrize(
    ("field", "text"),
    [("email", "e-mail address"), ("phone_number", "phone number"), ("password", "new password")],
)
def test_email_about_a_change_by_staff_names_the_change(changed, field, text):
    mail = changed(field)

    assert mail.subject == "testserver: support changed your account"
    assert text in mail.body
    assert text in mail.alternatives[0][0]
    assert "Time: 2030-01-02 03:04 UTC" in mail.body


def test_email_about_a_change_by_staff_has_no_link(changed):
    mail = changed("email", "phone_number")

    assert "http" not in mail.body
    assert "e-mail address" in mail.body
    assert "phone number" in mail.body


def test_email_about_a_change_by_staff_is_translated(changed):
    assert "Der Support hat die Telefonnummer" in changed("phone_number", language="de").body


# From the request of staff to the e-mail


@pytest.fixture
def root(notify, db):
    """A super admin of the API."""
    notify(DISPATCHER="inline")
    return Admin(CommittingApi(), ROOT)


LANGUAGES = pytest.mark.parametrize(
    ("language", "text"),
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
def test_address_changed_over_the_api_is_mailed_to_the_former_address(
    root, mark_verified, mailoutbox, settings, language, text
):
    settings.LANGUAGE_CODE = language
    user = mark_verified()

    assert root.put(str(user.pk), email="new@example.com").status == 200

    mail = sent_to(ANN, mailoutbox)
    assert text.format(ADDRESS[language]) in mail.body
    assert text.format(ADDRESS[language]) in mail.alternatives[0][0]
    assert NUMBER[language] not in mail.body


@LANGUAGES
def test_number_changed_over_the_api_is_mailed_to_the_owner(
    root, mark_verified, mailoutbox, settings, language, text
):
    settings.LANGUAGE_CODE = language
    user = mark_verified()

    assert root.put(str(user.pk), phone_number="+4930123457").status == 200

    mail = sent_to(ANN, mailoutbox)
    assert text.format(NUMBER[language]) in mail.body
    assert ADDRESS[language] not in mail.body
