"""The recipes of docs/recipes/project.rst do what the page says."""

import configparser
import json
import re

import pytest
from django.core.management import get_commands
from requests import HTTPError

from authservice.testing import mailbox
from tests.support.documented import Page
from tests.support.mounted import mounted

pytestmark = pytest.mark.django_db

PAGE = Page("recipes/project")
BRAND, SMS = PAGE.settings()
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
