"""The texts of e-mails, and that no input can add headers, markup or links to them."""

from datetime import timedelta

import pytest
from django.core.mail import EmailMultiAlternatives

from authservice.core.messages.compose import UnknownKind
from authservice.kernel.message_queue import Message
from authservice.notification import worker
from authservice.notification.mail import span
from tests.notification.conftest import link_in

pytestmark = pytest.mark.django_db

HOSTILE = "Ann\r\nBcc: eve@example.com\n\n<script>alert(1)</script>\x1b[31m & co"
DEVICE = {
    "user_agent": "<b>Bad</b>\r\n\r\nBrowser & co",
    "ip_address": "203.0.113.7",
    "at": "2030-01-02T03:04:05.678901Z",
}
NOTICES = ("password-changed", "access-wiped", "welcome", "new-device")


def html(mail):
    [(text, kind)] = mail.alternatives
    assert kind == "text/html"
    return text


def test_verification_email_has_the_link_in_text_and_html(ann, deliver):
    mail = deliver("verify-email")

    assert isinstance(mail, EmailMultiAlternatives)
    assert mail.to == ["ann@example.com"]
    assert link_in(mail.body).startswith("http://testserver/auth/verify-email?token=")
    assert link_in(mail.body).replace("&", "&amp;") in html(mail)


def test_reset_email_has_the_link(ann, deliver):
    mail = deliver("reset-link")

    assert "/reset-password?token=" in link_in(mail.body)
    assert "new password" in mail.subject


@pytest.mark.parametrize(
    ("kind", "text"), [("verify-email", "works for 24 hours"), ("reset-link", "works for 1 hour.")]
)
def test_email_says_how_long_the_link_works(ann, deliver, kind, text):
    mail = deliver(kind)

    assert text in mail.body
    assert text in html(mail)


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (timedelta(minutes=10), "10 minutes"),
        (timedelta(minutes=1), "1 minute"),
        (timedelta(minutes=90), "90 minutes"),
        (timedelta(hours=1), "1 hour"),
        (timedelta(hours=24), "24 hours"),
        (timedelta(days=7), "7 days"),
    ],
)
def test_duration_is_shown_in_the_largest_exact_unit(duration, text):
    assert span(duration) == text


@pytest.mark.parametrize("kind", NOTICES)
def test_notice_has_a_subject_and_two_bodies(mark_verified, deliver, kind):
    mark_verified()

    mail = deliver(kind)

    assert mail.subject
    assert mail.body.startswith("Hello")
    assert "Hello" in html(mail)


def test_signup_with_a_taken_address_is_mailed_to_its_owner_without_a_link(mark_verified, deliver):
    mark_verified()

    mail = deliver("signup")

    assert "tried to sign up" in mail.body
    assert "http" not in mail.body


def test_notice_has_the_link_of_its_job(mark_verified, deliver):
    mark_verified()

    mail = deliver("password-changed", details={"link": "https://front.example.com/?token=x&a=b"})

    assert "https://front.example.com/?token=x&a=b" in mail.body
    assert "https://front.example.com/?token=x&amp;a=b" in html(mail)


def test_mails_about_removed_access_name_everything_that_a_first_proof_removes(ann, deliver):
    wiped, reset = deliver("access-wiped").body, deliver("access-removed").body

    for removed in ("password", "phone number", "second factor", "sessions", "connections"):
        assert removed in wiped
    for removed in ("Phone numbers", "connections", "A second factor"):
        assert removed in reset


def test_email_about_revoked_access_has_a_link_to_set_a_password(mark_verified, deliver):
    mark_verified()

    mail = deliver("access-wiped")

    assert "/reset-password?token=" in link_in(mail.body)
    assert "works for 1 hour." in mail.body


def test_email_about_revoked_access_has_no_name_that_an_attacker_may_have_chosen(
    mark_verified, deliver
):
    mark_verified(name="Call 0900 12345")

    assert "0900" not in deliver("access-wiped").body


def test_email_to_a_user_created_by_staff_has_a_link_for_seven_days(ann, deliver):
    ann.set_unusable_password()
    ann.save()

    mail = deliver("account-made")

    assert "works for 7 days" in mail.body
    assert "/reset-password?token=" in link_in(mail.body)
    assert "Choose a password" in html(mail)


@pytest.mark.parametrize("kind", ["verify-email", "reset-link", "reset-code", "new-device"])
def test_unknown_target_gets_no_email(db, mailoutbox, kind):
    worker.deliver(Message(kind=kind, target="nobody@example.com"))

    assert mailoutbox == []


def test_unknown_kind_sends_no_email(ann, mailoutbox):
    with pytest.raises(UnknownKind):
        worker.deliver(Message(kind="../../etc/passwd", target="ann@example.com"))

    assert mailoutbox == []


def test_email_suppresses_automatic_replies(ann, deliver):
    assert deliver("verify-email").extra_headers["Auto-Submitted"] == "auto-generated"


def test_email_is_from_the_sender_in_the_section(ann, deliver, notify):
    notify(FROM_EMAIL="Shop <shop@example.com>")

    assert deliver("verify-email").from_email == "Shop <shop@example.com>"


def test_email_is_from_the_default_sender_of_the_project(ann, deliver, settings):
    settings.DEFAULT_FROM_EMAIL = "project@example.com"

    assert deliver("verify-email").from_email == "project@example.com"


def test_email_about_a_new_device_has_address_and_time(mark_verified, deliver):
    mark_verified()

    mail = deliver("new-device", details=DEVICE)

    assert "203.0.113.7" in mail.body
    assert "2030-01-02 03:04 UTC" in mail.body


def test_names_are_escaped_in_html_and_not_in_text(mark_verified, deliver):
    mark_verified(name="<i>Ann</i> & co")

    mail = deliver("new-device", details=DEVICE)

    assert "Hello <i>Ann</i> & co," in mail.body
    assert "Hello &lt;i&gt;Ann&lt;/i&gt; &amp; co," in html(mail)
    assert "Device: an unknown browser" in mail.body
    assert "Bad" not in mail.body + html(mail)


def test_html_is_escaped_despite_autoescape_off_in_the_project(mark_verified, deliver, settings):
    settings.TEMPLATES = [
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "APP_DIRS": True,
            "OPTIONS": {"autoescape": False},
        }
    ]
    mark_verified(name="<i>Ann</i>")

    assert "<i>" not in html(deliver("welcome"))


def test_line_breaks_in_names_add_no_header_or_line(mark_verified, deliver, notify):
    notify(BRAND={"name": HOSTILE})
    mark_verified(name=HOSTILE)

    mail = deliver("welcome")
    raw = mail.message().as_bytes()

    assert "\n" not in mail.subject
    assert not any(char < " " or char == "\x7f" for char in mail.subject)
    assert raw.lower().count(b"\nbcc:") == 0
    assert mail.recipients() == ["ann@example.com"]
    assert "Hello Ann Bcc: eve@example.com <script>" in mail.body
    assert "<script" not in html(mail)


def test_line_breaks_in_an_overridden_subject_are_removed(ann, deliver, settings, tmp_path):
    override(settings, tmp_path, "verify-email/subject.txt", "one\r\nBcc: eve@example.com\n\ntwo")

    assert deliver("verify-email").subject == "one Bcc: eve@example.com two"


def test_names_from_an_unverified_signup_are_not_in_emails(api, deliver, notify):
    notify(DISPATCHER="tests.notification.dispatchers.discard")
    api.sign_up(name="Buy at https://evil.example.com", first_name="Buy")

    for kind in ("verify-email", "reset-link"):
        mail = deliver(kind)
        assert "evil" not in mail.body + html(mail) + mail.subject
        assert mail.body.startswith("Hello,")


def test_brand_is_shown(ann, deliver, notify):
    notify(
        BRAND={
            "name": "Tom & Co",
            "logo_url": "https://cdn.example.com/logo.png",
            "color": "#123456",
            "support_email": "help@example.com",
        }
    )

    mail = deliver("verify-email")

    assert mail.subject.startswith("Tom & Co:")
    assert "help@example.com" in mail.body
    for shown in ("Tom &amp; Co", "https://cdn.example.com/logo.png", "#123456"):
        assert shown in html(mail)


def test_service_without_a_brand_is_named_by_its_host_name(ann, deliver):
    assert deliver("verify-email").subject.startswith("testserver:")


def override(settings, folder, path, text, *, app_dirs=True):
    template = folder / "authservice/notification" / path
    template.parent.mkdir(parents=True, exist_ok=True)
    template.write_text(text)
    settings.TEMPLATES = [
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "DIRS": [folder],
            "APP_DIRS": app_dirs,
        }
    ]


@pytest.mark.parametrize("app_dirs", [True, False])
def test_project_overrides_a_template_by_its_path(ann, deliver, settings, tmp_path, app_dirs):
    text = "Ours: {{ link }} for {{ user.pk }} & {{ brand.name }}"
    override(settings, tmp_path, "verify-email/body.txt", text, app_dirs=app_dirs)

    mail = deliver("verify-email")

    assert mail.body.startswith("Ours: http://testserver/auth/verify-email?token=")
    assert mail.body.endswith(f" for {ann.pk} & testserver\n")
    assert "Confirm e-mail address" in html(mail)


@pytest.mark.parametrize("app_dirs", [True, False])
def test_project_overrides_the_base_template_alone(ann, deliver, settings, tmp_path, app_dirs):
    text = "<p>ours</p>{% block body %}{% endblock %}"
    override(settings, tmp_path, "base.html", text, app_dirs=app_dirs)

    assert html(deliver("verify-email")).startswith("<p>ours</p>")


def test_email_is_rendered_without_templates_in_the_project(ann, deliver, settings):
    settings.TEMPLATES = []

    assert deliver("verify-email").subject


def test_template_of_another_engine_is_used(ann, deliver, settings, tmp_path):
    override(settings, tmp_path, "verify-email/body.txt", "Here: $link")
    settings.TEMPLATES = [
        {"BACKEND": "django.template.backends.dummy.TemplateStrings", "DIRS": [tmp_path]}
    ]

    mail = deliver("verify-email")

    assert mail.body.startswith("Here: http://testserver/auth/verify-email?token=")
    assert "Confirm e-mail address" in html(mail)
