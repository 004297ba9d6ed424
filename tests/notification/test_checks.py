"""`manage.py check` reports settings of notification that cannot work, with a hint."""

import celery
import django
import pytest
from celery import _state
from django.core import checks
from django.core.mail.backends import locmem

from authservice.notification import checks as ours
from tests.support.mailing import mail_settings


@pytest.fixture
def found(notify, settings):
    """`found(DISPATCHER=…)` lists the numbers of the checks that report something."""
    settings.DEFAULT_FROM_EMAIL = "auth@example.com"

    def run(*, deploy=False, **keys):
        notify(**keys)
        messages = [*ours.check_notification(), *(ours.check_production() if deploy else ())]
        assert all(message.hint for message in messages)
        return [message.id.removeprefix("authservice.") for message in messages]

    return run


@pytest.fixture(autouse=True)
def _celery_app(monkeypatch):
    """A Celery app of the project."""
    monkeypatch.setattr(_state._tls, "current_app", None, raising=False)
    monkeypatch.setattr(_state, "default_app", celery.Celery("project", set_as_current=False))


def hook(*_):
    """A function for settings that are dotted paths."""


HOOK = "tests.notification.test_checks.hook"
TWILIO = {"TWILIO_ACCOUNT_SID": "AC1", "TWILIO_AUTH_TOKEN": "x", "TWILIO_FROM": "+15005550006"}
GOOD = [
    {},
    {"DISPATCHER": "celery", "NOTICE_QUEUE": "notices"},
    {"SMS_COUNTRIES": ["DE", "AT"], "SMS_PER_HOUR": 1},
    {"DISPATCHER": HOOK, "SMS_SENDER": HOOK, "LANGUAGE": HOOK},
    {"SMS_SENDER": "console"},
    {"SMS_SENDER": "webhook", "SMS_WEBHOOK_URL": "https://sms.example.com"},
    {"SMS_SENDER": "twilio", **TWILIO},
    {"BRAND": {"name": "Shop", "color": "#123456"}, "RETRIES": 0, "BACKOFF": 0},
]
BAD = [
    ({"DISPATCHER": "inline"}, ["W101"]),
    ({"DISPATCHER": "celery"}, ["W103"]),
    ({"SMS_SENDER": "webhook"}, ["E111"]),
    ({"SMS_SENDER": "webhook", "SMS_WEBHOOK_URL": "file:///etc/passwd"}, ["E111"]),
    ({"SMS_SENDER": "webhook", "SMS_WEBHOOK_URL": "http://sms.example.com"}, ["E111"]),
    ({"SMS_SENDER": "twilio"}, ["E112"]),
    ({"SMS_SENDER": "twilio", **TWILIO, "TWILIO_FROM": ""}, ["E112"]),
]


@pytest.mark.parametrize("keys", GOOD, ids=str)
def test_valid_settings_pass_the_checks(found, keys):
    assert found(**keys) == []


@pytest.mark.parametrize(("keys", "numbers"), BAD, ids=str)
def test_invalid_setting_is_reported(found, keys, numbers):
    assert found(**keys) == numbers


@pytest.mark.skipif(django.VERSION >= (6, 0), reason="Django has tasks since 6.0")
def test_tasks_dispatcher_is_an_error_before_django_6(found):
    assert found(DISPATCHER="tasks") == ["E102"]


@pytest.mark.skipif(django.VERSION < (6, 0), reason="Django has no tasks before 6.0")
def test_tasks_backend_without_a_queue_is_a_warning(found):
    assert found(DISPATCHER="tasks") == ["W102"]


@pytest.mark.parametrize(
    ("keys", "package", "number"),
    [
        ({"DISPATCHER": "celery"}, "celery", "E103"),
        ({"SMS_SENDER": "twilio", **TWILIO}, "twilio", "E113"),
        ({"SMS_COUNTRIES": ["DE"]}, "phonenumbers", "E123"),
    ],
)
def test_missing_package_is_an_error(found, monkeypatch, keys, package, number):
    monkeypatch.setattr(ours, "find_spec", lambda name: None if name == package else True)

    assert found(**keys) == [number]


@pytest.mark.skipif(django.VERSION < (6, 0), reason="Django has no tasks before 6.0")
@pytest.mark.parametrize(
    ("queues", "keys", "numbers"),
    [
        (["default"], {}, ["W103"]),
        (["default"], {"NOTICE_QUEUE": "notices"}, ["E104"]),
        (["default", "notices"], {"NOTICE_QUEUE": "notices"}, []),
    ],
)
def test_tasks_dispatcher_requires_a_queue_for_notices(found, settings, queues, keys, numbers):
    backend = "tests.notification.test_checks.QueueingBackend"
    settings.TASKS = {"default": {"BACKEND": backend, "QUEUES": queues}}

    assert found(DISPATCHER="tasks", **keys) == numbers


class QueueingBackend:
    """A backend without priorities."""


def test_celery_without_an_app_of_the_project_is_a_warning(found, monkeypatch):
    monkeypatch.setattr(_state, "default_app", None)

    assert found(DISPATCHER="celery", NOTICE_QUEUE="notices") == ["W235"]


@pytest.mark.skipif(django.VERSION >= (6, 1), reason="the suite's host sets MAILERS")
def test_mail_server_that_no_setting_names_is_a_warning(found, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    assert found() == ["W236"]

    settings.DEBUG = True  # a new project starts without a warning
    assert found() == []

    settings.DEBUG, settings.EMAIL_HOST = False, "localhost"
    assert found() == []


class EmailBackend(locmem.EmailBackend):
    """A backend of the project, which may send e-mails in its own way."""


@pytest.fixture
def backend(settings, tmp_path):
    """`backend("django.core.mail.backends.smtp")` makes its class the e-mail backend."""

    def choose(module):
        options = {"smtp": {"host": "mail.example.com"}, "filebased": {"file_path": tmp_path}}
        kind = module.rpartition(".")[2]
        given = mail_settings(f"{module}.EmailBackend", **options.get(kind, {}))
        for name, value in given.items():
            setattr(settings, name, value)

    return choose


def test_console_sender_in_production_is_a_warning(found, backend):
    backend("django.core.mail.backends.smtp")

    assert found(deploy=True, SMS_SENDER="console") == ["W113"]


@pytest.mark.parametrize("kind", ["console", "dummy", "filebased", "locmem"])
def test_backend_that_sends_no_mails_in_production_is_a_warning(found, backend, kind):
    backend(f"django.core.mail.backends.{kind}")

    assert found() == []
    assert found(deploy=True) == ["W241"]
    (wrong,) = ours.check_production()
    assert f"django.core.mail.backends.{kind}.EmailBackend" in wrong.msg


@pytest.mark.parametrize(
    "module", ["django.core.mail.backends.smtp", "tests.notification.test_checks"]
)
def test_backend_that_sends_mails_or_is_one_of_the_project_passes_the_checks(
    found, backend, module
):
    backend(module)

    assert found(deploy=True) == []


@pytest.mark.parametrize("sender", ["", "webmaster@localhost", "Shop <noreply@localhost>", "shop"])
def test_sender_that_mail_servers_refuse_is_a_warning(found, backend, settings, sender):
    backend("django.core.mail.backends.smtp")
    settings.DEFAULT_FROM_EMAIL = sender

    assert found(deploy=True) == ["W242"]
    assert found(deploy=True, FROM_EMAIL="Shop <noreply@shop.example.com>") == []


def test_missing_settings_of_twilio_are_named_in_a_correct_sentence(found, notify):
    notify(SMS_SENDER="twilio", TWILIO_FROM="+15005550006")
    (several,) = ours.check_notification()
    assert "but TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN are not set." in several.msg

    notify(SMS_SENDER="twilio", **{**TWILIO, "TWILIO_FROM": ""})
    (one,) = ours.check_notification()
    assert "but TWILIO_FROM is not set." in one.msg


def test_missing_api_url_is_a_warning(configure):
    configure(API_URL="")

    assert [message.id for message in ours.check_notification()] == ["authservice.W120"]


def test_wrong_type_is_reported_once(notify):
    notify(RETRIES="many")

    ids = [message.id for message in checks.run_checks(tags=["authservice"])]

    assert "authservice.E002" in ids
    assert not any(number.startswith("authservice.E1") for number in ids)
