"""The recipes of docs/recipes/project.rst do what the page says."""

import configparser
import json
import re

import pytest
from django.core.mail import send_mail
from django.core.management import get_commands
from django.test import override_settings
from requests import HTTPError

from authservice.kernel.message_queue import Message
from authservice.notification import worker
from authservice.testing import UserFactory, mailbox
from tests.notification.servers import Sink
from tests.support.documented import Page
from tests.support.mailing import mail_settings
from tests.support.mounted import mounted

pytestmark = pytest.mark.django_db

PAGE = Page("recipes/project")
BRAND, SMS, _ = PAGE.settings()
COMMAND = re.compile(r"manage\.py (authservice_\w+)")


@pytest.fixture
def mail(api, configure, django_capture_on_commit_callbacks):
    """The mail with which a password is reset."""

    def send():
        with mounted("authservice.notification"), mailbox() as box:
            api.sign_up()
            with django_capture_on_commit_callbacks(execute=True):
                api.post("forgot-password", email="ann@example.com")
            return box.last_mail

    return send


def test_mail_has_the_brand(mail, configure):
    configure(**BRAND["AUTHSERVICE"])
    html, _ = mail().alternatives[0]

    for value in BRAND["AUTHSERVICE"]["NOTIFICATION"]["BRAND"].values():
        assert value in html


def test_templates_of_the_project_replace_ours(mail, settings, configure, tmp_path):
    configure(**BRAND["AUTHSERVICE"])
    for text in PAGE.code("html+django"):
        path = tmp_path / re.match(r"\{# templates/(\S+) #\}", text)[1]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    engine = "django.template.backends.django.DjangoTemplates"
    settings.TEMPLATES = [{"BACKEND": engine, "DIRS": [tmp_path], "APP_DIRS": True}]

    sent = mail()

    assert sent.subject == "Plum: your new password"
    assert sent.body.startswith("Choose your new password here:\n\nhttp")
    assert "The link works for 1" in sent.body
    assert "Choose a password</a>" in sent.alternatives[0][0]


class TestSms:
    @pytest.fixture
    def send(self, settings, gateway):
        settings.SMS_URL, settings.SMS_KEY = gateway.url, "key"
        return PAGE.names("accounts/sms")["send"]

    def test_text_is_sent_to_the_provider(self, send, gateway):
        send("+4915112345678", "Your code: 123456")

        [(_, _, headers, body)] = gateway.requests
        assert headers["Authorization"] == "Bearer key"
        assert json.loads(body) == {
            "from": "Plum",
            "to": "+4915112345678",
            "text": "Your code: 123456",
        }

    def test_failure_is_raised_so_that_the_worker_retries(self, send, gateway):
        gateway.status = 500

        with pytest.raises(HTTPError):
            send("+4915112345678", "Your code: 123456")

    def test_settings_name_the_function(self):
        assert SMS["AUTHSERVICE"]["NOTIFICATION"]["SMS_SENDER"] == "accounts.sms.send"


class TestChat:
    @pytest.fixture
    def reset(self, settings, gateway):
        """Requests a password reset; returns the mails that the mail server got."""
        settings.CHAT_URL, settings.CHAT_KEY = gateway.url, "key"
        user = UserFactory(email="ann@example.com")

        def send():
            with Sink() as server, PAGE.installed("chat"), mounted("authservice.notification"):
                backend = "accounts.chat.ChatOrMail"
                options = mail_settings(backend, host="127.0.0.1", port=server.port)
                with override_settings(**options):
                    worker.deliver(Message(kind="reset-link", target=user.email))
                return server.raw

        return send

    def test_mail_is_posted_to_the_chat_with_its_link(self, reset, gateway):
        assert reset() == []

        [(_, _, headers, body)] = gateway.requests
        posted = json.loads(body)
        assert headers["Authorization"] == "Bearer key"
        assert posted["email"] == "ann@example.com"
        assert re.search(r"http\S+reset-password\S+token=", posted["text"])

    def test_recipient_without_a_chat_gets_a_mail(self, reset, gateway):
        gateway.status = 404

        [mail] = reset()

        assert b"ann@example.com" in mail

    def test_mail_with_two_recipients_is_sent_by_mail(self, settings, gateway):
        settings.CHAT_URL, settings.CHAT_KEY = gateway.url, "key"
        with Sink() as server, PAGE.installed("chat"):
            options = mail_settings("accounts.chat.ChatOrMail", host="127.0.0.1", port=server.port)
            with override_settings(**options):
                send_mail("Report", "All is well.", None, ["ann@example.com", "bob@example.com"])

        assert (len(server.raw), gateway.requests) == (1, [])

    def test_failure_of_the_chat_is_raised_so_that_the_worker_retries(self, reset, gateway):
        gateway.status = 500

        with pytest.raises(HTTPError):
            reset()


def test_lines_of_cron_and_units_of_systemd_run_commands_that_exist():
    (cron,), (service, timer) = PAGE.code("text"), PAGE.code("ini")
    unit = configparser.ConfigParser(strict=False)
    unit.read_string(service)
    schedule = configparser.ConfigParser(strict=False)
    schedule.read_string(timer)

    assert all(re.match(r"\d+ \d+ \* \* \*  /", line) for line in cron.strip().splitlines())
    assert COMMAND.findall(cron) == COMMAND.findall(service)
    with mounted("authservice.audit"):
        get_commands.cache_clear()
        assert set(COMMAND.findall(cron)) <= set(get_commands())
    get_commands.cache_clear()
    assert unit["Service"]["Type"] == "oneshot"
    assert schedule["Install"]["WantedBy"] == "timers.target"
