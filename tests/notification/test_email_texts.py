"""What a letter says, and that nobody's words become more in it than words."""

from datetime import timedelta

import pytest
from django.core.mail import EmailMultiAlternatives

from authservice.kernel.message_queue import Message
from authservice.notification import languages, worker
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


def test_a_verification_mail_carries_its_link_in_text_and_html(ann, deliver):
    mail = deliver("verify-email")

    assert isinstance(mail, EmailMultiAlternatives)
    assert mail.to == ["ann@example.com"]
    assert link_in(mail.body).startswith("http://testserver/auth/verify-email?token=")
    assert link_in(mail.body).replace("&", "&amp;") in html(mail)


def test_a_reset_mail_carries_its_link(ann, deliver):
    mail = deliver("reset-link")

    assert "/reset-password?token=" in link_in(mail.body)
    assert "new password" in mail.subject


@pytest.mark.parametrize(
    ("kind", "words"), [("verify-email", "works for 24 hours"), ("reset-link", "works for 1 hour.")]
)
def test_a_link_says_in_words_how_long_it_works(ann, deliver, kind, words):
    mail = deliver(kind)

    assert words in mail.body
    assert words in html(mail)


@pytest.mark.parametrize(
    ("span", "words"),
    [
        (timedelta(minutes=10), "10 minutes"),
        (timedelta(minutes=1), "1 minute"),
        (timedelta(minutes=90), "90 minutes"),
        (timedelta(hours=1), "1 hour"),
        (timedelta(hours=24), "24 hours"),
        (timedelta(days=7), "7 days"),
    ],
)
def test_spans_are_told_in_the_largest_unit_that_is_exact(span, words):
    assert languages.span(span) == words


@pytest.mark.parametrize("kind", NOTICES)
def test_every_notice_has_a_subject_and_two_bodies(proven, deliver, kind):
    proven()

    mail = deliver(kind)

    assert mail.subject
    assert mail.body.startswith("Hello")
    assert "Hello" in html(mail)


def test_the_owner_of_an_address_learns_that_somebody_tried_to_sign_up(proven, deliver):
    proven()

    mail = deliver("signup")

    assert "tried to sign up" in mail.body
    assert "http" not in mail.body


def test_advice_comes_with_a_link_where_the_job_has_one(proven, deliver):
    proven()

    mail = deliver("password-changed", details={"link": "https://front.example.com/?token=x&a=b"})

    assert "https://front.example.com/?token=x&a=b" in mail.body
    assert "https://front.example.com/?token=x&amp;a=b" in html(mail)


def test_who_lost_access_that_nobody_proved_is_mailed_a_link_to_set_a_password(proven, deliver):
    proven()

    mail = deliver("access-wiped")

    assert "/reset-password?token=" in link_in(mail.body)
    assert "works for 1 hour." in mail.body


def test_a_name_that_a_stranger_may_have_chosen_is_not_in_that_mail(proven, deliver):
    proven(name="Call 0900 12345")

    assert "0900" not in deliver("access-wiped").body


def test_who_is_given_an_account_is_mailed_a_link_for_seven_days(ann, deliver):
    ann.set_unusable_password()
    ann.save()

    mail = deliver("account-made")

    assert "works for 7 days" in mail.body
    assert "/reset-password?token=" in link_in(mail.body)
    assert "Choose a password" in html(mail)


@pytest.mark.parametrize("kind", ["verify-email", "reset-link", "reset-code", "new-device"])
def test_an_unknown_target_gets_nothing(db, mailoutbox, kind):
    worker.deliver(Message(kind=kind, target="nobody@example.com"))

    assert mailoutbox == []


def test_an_unknown_kind_gets_nothing(ann, mailoutbox):
    worker.deliver(Message(kind="../../etc/passwd", target="ann@example.com"))

    assert mailoutbox == []


def test_no_holiday_note_is_asked_for(ann, deliver):
    assert deliver("verify-email").extra_headers["Auto-Submitted"] == "auto-generated"


def test_mails_come_from_the_sender_of_the_section(ann, deliver, notify):
    notify(FROM_EMAIL="Shop <shop@example.com>")

    assert deliver("verify-email").from_email == "Shop <shop@example.com>"


def test_without_one_they_come_from_the_projects_sender(ann, deliver, settings):
    settings.DEFAULT_FROM_EMAIL = "project@example.com"

    assert deliver("verify-email").from_email == "project@example.com"


def test_a_new_device_is_described(proven, deliver):
    proven()

    mail = deliver("new-device", details=DEVICE)

    assert "203.0.113.7" in mail.body
    assert "2030-01-02 03:04 UTC" in mail.body


def test_html_is_escaped_and_text_is_not(proven, deliver):
    proven(name="<i>Ann</i> & co")

    mail = deliver("new-device", details=DEVICE)

    assert "Hello <i>Ann</i> & co," in mail.body
    assert "Hello &lt;i&gt;Ann&lt;/i&gt; &amp; co," in html(mail)
    assert "Device: an unknown browser" in mail.body
    assert "Bad" not in mail.body + html(mail)


def test_html_is_escaped_whatever_the_engine_says(proven, deliver, settings):
    settings.TEMPLATES = [
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "APP_DIRS": True,
            "OPTIONS": {"autoescape": False},
        }
    ]
    proven(name="<i>Ann</i>")

    assert "<i>" not in html(deliver("welcome"))


def test_no_name_breaks_out_of_its_line(proven, deliver, notify):
    notify(BRAND={"name": HOSTILE})
    proven(name=HOSTILE)

    mail = deliver("welcome")
    raw = mail.message().as_bytes()

    assert "\n" not in mail.subject
    assert not any(char < " " or char == "\x7f" for char in mail.subject)
    assert raw.lower().count(b"\nbcc:") == 0
    assert mail.recipients() == ["ann@example.com"]
    assert "Hello Ann Bcc: eve@example.com <script>" in mail.body
    assert "<script" not in html(mail)


def test_an_overridden_subject_may_have_lines_and_still_be_one(ann, deliver, settings, tmp_path):
    override(settings, tmp_path, "verify-email/subject.txt", "one\r\nBcc: eve@example.com\n\ntwo")

    assert deliver("verify-email").subject == "one Bcc: eve@example.com two"


def test_a_stranger_cannot_have_the_service_mail_words_of_theirs(api, deliver, notify):
    notify(DISPATCHER="tests.notification.dispatchers.nowhere")
    api.sign_up(name="Buy at https://evil.example.com", first_name="Buy")

    for kind in ("verify-email", "reset-link"):
        mail = deliver(kind)
        assert "evil" not in mail.body + html(mail) + mail.subject
        assert mail.body.startswith("Hello,")


def test_the_brand_shows(ann, deliver, notify):
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


def test_a_service_without_a_brand_goes_by_its_host_name(ann, deliver):
    assert deliver("verify-email").subject.startswith("testserver:")


def override(settings, folder, path, text, *, app_dirs=True):
    place = folder / "authservice/notification" / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    settings.TEMPLATES = [
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "DIRS": [folder],
            "APP_DIRS": app_dirs,
        }
    ]


@pytest.mark.parametrize("app_dirs", [True, False])
def test_a_project_overrides_a_template_by_its_path(ann, deliver, settings, tmp_path, app_dirs):
    text = "Ours: {{ link }} for {{ user.pk }} & {{ brand.name }}"
    override(settings, tmp_path, "verify-email/body.txt", text, app_dirs=app_dirs)

    mail = deliver("verify-email")

    assert mail.body.startswith("Ours: http://testserver/auth/verify-email?token=")
    assert mail.body.endswith(f" for {ann.pk} & testserver\n")
    assert "Confirm e-mail address" in html(mail)


@pytest.mark.parametrize("app_dirs", [True, False])
def test_a_project_overrides_the_base_alone(ann, deliver, settings, tmp_path, app_dirs):
    text = "<p>ours</p>{% block body %}{% endblock %}"
    override(settings, tmp_path, "base.html", text, app_dirs=app_dirs)

    assert html(deliver("verify-email")).startswith("<p>ours</p>")


def test_a_project_without_templates_needs_none(ann, deliver, settings):
    settings.TEMPLATES = []

    assert deliver("verify-email").subject


def test_templates_may_be_of_another_engine(ann, deliver, settings, tmp_path):
    override(settings, tmp_path, "verify-email/body.txt", "Here: $link")
    settings.TEMPLATES = [
        {"BACKEND": "django.template.backends.dummy.TemplateStrings", "DIRS": [tmp_path]}
    ]

    mail = deliver("verify-email")

    assert mail.body.startswith("Here: http://testserver/auth/verify-email?token=")
    assert "Confirm e-mail address" in html(mail)
