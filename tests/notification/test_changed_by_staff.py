"""The mail about changes by staff says what was changed, and has no link."""

import pytest

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
