"""Notices about changes by staff, and the verification of a number set by staff."""

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth import get_user_model
from django.urls import reverse
from django.utils import timezone

from authservice.core.messages import security_notice
from authservice.core.models import Account, OneTimeToken, Session
from authservice.core.staff.django_user_pages import _is_of_a_password
from authservice.core.users import lookup
from authservice.kernel import modules
from authservice.kernel.client import Client
from tests.admin.inside.test_changes import on_account_page, on_user_page
from tests.support.client import PASSWORD
from tests.support.messenger.post import office
from tests.support.people import email_field, the_user

pytestmark = pytest.mark.django_db

ANN, OLD, NEW = "ann@example.com", "+4930123456", "+4930123457"
OTHER = "fig biscuit 17 lanterns"
PAGES = pytest.mark.parametrize("save", [on_account_page, on_user_page])


def account(email=ANN):
    return Account.objects.get(email=email)


def verify():
    kept = account()
    kept.verified_email_key = kept.proven_email_key = kept.email_key
    kept.verified_phone_key = kept.phone_key
    kept.save()


@pytest.fixture
def notices(django_capture_on_commit_callbacks):
    """`notices(do)` calls `do` and returns the queued notices about changes by staff."""

    def collect(do):
        office.jobs.clear()
        with (
            modules.plugged("messenger", office),
            django_capture_on_commit_callbacks(execute=True),
        ):
            do()
        return [job for job in office.jobs if job.kind == "changed-by-staff"]

    return collect


@PAGES
def test_number_changed_by_staff_is_mailed_to_the_verified_address(root, ann, notices, save):
    verify()

    (job,) = notices(lambda: save(root, phone_number=NEW))

    assert (job.target, job.details["changed"]) == (ANN, ["phone_number"])
    assert "link" not in job.details


def test_address_changed_by_staff_is_mailed_to_the_former_address(root, ann, notices):
    verify()

    (job,) = notices(lambda: on_user_page(root, {email_field(): "eve@example.com"}))

    assert (job.target, job.details["changed"]) == (ANN, ["email"])


def test_address_changed_by_staff_revokes_the_links_of_notices(root, ann, notices):
    verify()
    person = lookup.get_person(the_user())
    security_notice.notify("phone-changed", person, Client(), security_notice.state_of(person))

    notices(lambda: on_user_page(root, {email_field(): "eve@example.com"}))

    assert not OneTimeToken.objects.filter(expires_at__gt=timezone.now()).exists()


@PAGES
def test_change_by_staff_is_not_mailed_to_unverified_address(root, ann, notices, save):
    assert notices(lambda: save(root, phone_number=NEW)) == []


@PAGES
def test_other_changes_by_staff_are_not_mailed(root, ann, notices, save):
    verify()

    assert notices(lambda: save(root, name="Ann")) == []


# E-mails


@pytest.fixture
def mails(settings, configure, mailoutbox, django_capture_on_commit_callbacks):
    """`mails(do)` calls `do` and returns text and HTML of each e-mail to Ann."""
    settings.INSTALLED_APPS = [*settings.INSTALLED_APPS, "authservice.notification"]
    configure(NOTIFICATION={"DISPATCHER": "inline"})

    def collect(do):
        mailoutbox.clear()
        with django_capture_on_commit_callbacks(execute=True):
            do()
        sent = [mail for mail in mailoutbox if mail.to == [ANN]]
        return [(mail.body, mail.alternatives[0][0]) for mail in sent]

    return collect


CHANGES = pytest.mark.parametrize(
    ("language", "field", "words"),
    [
        ("en", "email", "Support changed the e-mail address of your account."),
        ("de", "email", "Der Support hat die E-Mail-Adresse Ihres Kontos geändert."),
        ("en", "phone_number", "Support changed the phone number of your account."),
        ("de", "phone_number", "Der Support hat die Telefonnummer Ihres Kontos geändert."),
    ],
)


@CHANGES
def test_mail_about_a_change_by_staff_is_in_the_language_of_the_project(
    root, ann, mails, settings, language, field, words
):
    verify()
    settings.LANGUAGE_CODE = language
    changes = {"email": {email_field(): "eve@example.com"}, "phone_number": {}}[field]
    number = NEW if field == "phone_number" else OLD

    [(text, html)] = mails(lambda: on_user_page(root, changes, phone_number=number))

    assert words in text
    assert words in html


# Numbers


@PAGES
def test_number_set_by_staff_is_marked_as_set_by_staff(root, ann, save):
    save(root, phone_number=NEW)

    kept = account()
    assert (kept.phone_set_by, kept.phone_verified_at) == ("staff", None)
    assert kept.phone_added_at is not None


@PAGES
def test_number_set_again_by_staff_is_not_verified(root, ann, save):
    verify()
    assert lookup.find_by_phone(OLD).phone_number_verified

    save(root, phone_number="")
    save(root, phone_number=OLD)

    person = lookup.find_by_phone(OLD)
    assert person.user == the_user()
    assert not person.phone_number_verified
    assert account().phone_set_by == "staff"


@PAGES
def test_unchanged_number_stays_verified(root, ann, save):
    verify()

    save(root, name="Ann")

    assert lookup.find_by_phone(OLD).phone_number_verified
    assert account().phone_set_by == "signup"


# Passwords


def password_page(user):
    return reverse("admin:auth_user_password_change", args=[user.pk])


stock = pytest.mark.skipif(
    f"{get_user_model()._meta.label_lower}" != "auth.user", reason="its page sets no passwords"
)


def set_password(root, **meta):
    form = {"password1": OTHER, "password2": OTHER, "usable_password": "true"}
    answer = root.send(password_page(the_user(ANN)), meta, **form)
    assert b"Password changed successfully." in answer.content


@stock
def test_password_set_by_staff_is_recorded(root, ann, recorded):
    set_password(root)

    (event,) = recorded("auth.password.changed")
    assert (event.user, event.target, event.actor_type) == (root.user, the_user(ANN), "admin")


@stock
def test_password_set_by_staff_is_recorded_with_the_client(root, ann, recorded):
    set_password(root, HTTP_X_REQUEST_ID="admin-7", REMOTE_ADDR="203.0.113.7")

    (event,) = recorded("auth.password.changed")
    assert (event.client.address, event.client.request_id) == ("203.0.113.7", "admin-7")


@stock
def test_client_of_a_page_is_not_recorded_with_later_passwords(root, ann, recorded):
    set_password(root, REMOTE_ADDR="203.0.113.7")
    message = '[{"changed": {"fields": ["password"]}}]'
    LogEntry.objects.log_actions(root.user.pk, [the_user(ANN)], CHANGE, message)

    assert [event.client.address for event in recorded("auth.password.changed")] == [
        "203.0.113.7",
        "",
    ]


@stock
def test_password_set_by_staff_ends_every_session_and_device(root, api, ann):
    before = account()

    set_password(root)

    assert api.get("me", token=ann["access_token"]).error == (401, "INVALID_TOKEN")
    assert not Session.objects.filter(user=the_user(ANN), ended_at=None).exists()
    assert account().device_version > before.device_version
    assert api.post("login", email=ANN, password=OTHER).status == 200
    assert api.post("login", email=ANN, password=PASSWORD).status == 401


@stock
def test_password_set_by_staff_is_mailed_to_the_verified_address(root, ann, notices):
    verify()

    (job,) = notices(lambda: set_password(root))

    assert (job.target, job.details["changed"]) == (ANN, ["password"])


@stock
def test_mail_about_a_password_set_by_staff_says_so(root, ann, mails):
    verify()

    [(text, html)] = mails(lambda: set_password(root))

    assert "Support set a new password for your account." in text
    assert "Support set a new password for your account." in html


@stock
def test_refused_password_set_by_staff_is_not_recorded(root, ann, recorded):
    root.send(
        password_page(the_user(ANN)), password1=OTHER, password2="another", usable_password="true"
    )

    assert recorded("auth.password.changed") == []


def test_other_change_is_not_recorded_as_password_change(root, ann, recorded):
    on_account_page(root, name="Ann")

    assert recorded("auth.password.changed") == []


@pytest.mark.parametrize(
    "text", ["", "Changed password.", "[1]", '["password"]', "{}", '[{"added": {}}]']
)
def test_unknown_change_message_in_the_admin_log_is_no_password_change(text):
    entry = type("Entry", (), {"change_message": text})()

    assert _is_of_a_password(entry) is False
