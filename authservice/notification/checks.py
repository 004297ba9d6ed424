"""System checks of the notification module. Ids with E are errors, ids with W warnings."""

from __future__ import annotations

from collections.abc import Iterator
from email.utils import parseaddr
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import django
from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, Tags, register
from django.utils.module_loading import import_string

from authservice.kernel.checks import declare, message
from authservice.kernel.outbound import Refused, http_client
from authservice.kernel.sections import root
from authservice.kernel.settings import complaints
from authservice.notification import mail
from authservice.notification.conf import conf

declare(
    {
        "authservice.E123": (
            "NOTIFICATION.SMS_COUNTRIES requires the package phonenumbers, which is not installed."
            " No SMS is sent.",
            "Run: pip install 'authservice[phone]'",
        ),
        "authservice.E126": (
            "Only one of NOTIFICATION.CAPTURE and NOTIFICATION.RESTORE is set.",
            "Set both: what CAPTURE returns in the request, RESTORE restores for the job.",
        ),
    }
)
declare(
    {
        "authservice.W120": (
            "AUTHSERVICE['API_URL'] is not set: links in e-mails do not work.",
            "Set it to the public origin of the service, such as 'https://api.example.com'.",
        ),
        "authservice.W236": (
            "E-mails are sent to localhost:25, Django's default mail server, because no setting"
            " names another. If there is none, every message is lost.",
            "Set EMAIL_HOST, or another EMAIL_BACKEND. If localhost is right, set EMAIL_HOST to"
            " it.",
        ),
        "authservice.E111": (
            "NOTIFICATION.SMS_SENDER is 'webhook', but SMS_WEBHOOK_URL is not an https URL. No SMS"
            " is sent.",
            "Set NOTIFICATION.SMS_WEBHOOK_URL, such as 'https://sms.example.com/send'. For plain"
            " http, name the host in OUTBOUND.INSECURE_HOSTS.",
        ),
        "authservice.E112": (
            "NOTIFICATION.SMS_SENDER is 'twilio', but an account setting is missing. No SMS is"
            " sent.",
            "Set TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN and TWILIO_FROM to the values in the"
            " console of Twilio.",
        ),
        "authservice.E113": (
            "NOTIFICATION.SMS_SENDER is 'twilio', but its package is not installed. No SMS is"
            " sent.",
            "Run: pip install 'authservice[twilio]'",
        ),
        "authservice.W113": (
            "NOTIFICATION.SMS_SENDER is 'console': text messages are not sent but written to the"
            " log, with their codes.",
            "Set NOTIFICATION.SMS_SENDER to 'webhook', 'twilio' or a sender of your own.",
        ),
    },
    area="mail",
)
declare(
    {
        "authservice.W241": (
            "The e-mail backend is one of Django's for development: e-mails are not sent. They are"
            " printed, stored or dropped, and a printed or stored link gives access to its"
            " account.",
            "Set EMAIL_BACKEND, or MAILERS from Django 6.1 on, to a backend that sends e-mails,"
            " such as 'django.core.mail.backends.smtp.EmailBackend'.",
        ),
        "authservice.W242": (
            "E-mails have no sender address, or Django's default, webmaster@localhost: mail servers"
            " refuse them or take them for spam.",
            "Set NOTIFICATION.FROM_EMAIL or DEFAULT_FROM_EMAIL to an address that your mail server"
            " may send for, such as 'Example <auth@example.com>'.",
        ),
    },
    area="mail",
    grave=True,
)
declare(
    {
        "authservice.W101": (
            "NOTIFICATION.DISPATCHER is 'inline': each request waits for the mail server, and the"
            " time it takes reveals which addresses have an account.",
            "Use 'thread', 'tasks' or 'celery'. 'inline' is for tests only.",
        ),
        "authservice.E102": (
            "NOTIFICATION.DISPATCHER is 'tasks', which requires Django 6.0 or later. No message is"
            " sent.",
            "Use 'thread' or 'celery', or upgrade Django.",
        ),
        "authservice.W102": (
            "NOTIFICATION.DISPATCHER is 'tasks', but the default backend in TASKS does not queue:"
            " requests wait for the mail server, or messages are dropped.",
            "Set a backend with a worker in TASKS, or use 'thread'.",
        ),
        "authservice.E103": (
            "NOTIFICATION.DISPATCHER is 'celery', but Celery is not installed. No message is sent.",
            "Run: pip install 'authservice[celery]', and configure a Celery app in the project.",
        ),
        "authservice.W103": (
            "Notices share a queue with links and codes, so many notices delay links and codes.",
            "Set NOTIFICATION.NOTICE_QUEUE, and start a worker for that queue.",
        ),
        "authservice.E104": (
            "TASKS does not list the queue in NOTIFICATION.NOTICE_QUEUE, so notices are not sent.",
            "Add the queue to TASKS['default']['QUEUES'].",
        ),
        "authservice.W235": (
            "NOTIFICATION.DISPATCHER is 'celery', but the project has no Celery app: messages go"
            " to Celery's default broker, where no worker of the project takes them.",
            "Create the app in celery.py of the project, and import it in the project's"
            " __init__.py as Celery's page 'First steps with Django' shows.",
        ),
    },
    area="worker",
)

# Backends of django.tasks that do not queue.
_UNQUEUED = ("ImmediateBackend", "DummyBackend")
# The name of the app that Celery makes if the project has none.
_FALLBACK_APP = "default"
_DEFAULT_MAIL_SERVER = ("localhost", 25)
_BACKENDS = "django.core.mail.backends."
# The modules of Django's backends that send nothing, and what they do with an e-mail instead.
_NOT_SENT = {
    f"{_BACKENDS}console": "printed, with links that give access to accounts",
    f"{_BACKENDS}filebased": "written to files, with links that give access to accounts",
    f"{_BACKENDS}locmem": "kept in the memory of the process",
    f"{_BACKENDS}dummy": "dropped",
}


def connect() -> None:
    register(check_notification, "authservice")
    register(check_production, Tags.security, deploy=True)


def check_notification(**_: Any) -> Iterator[CheckMessage]:
    if not _readable():
        return
    if conf.dispatcher == "inline":
        yield message("authservice.W101")
    if conf.dispatcher == "tasks":
        yield from _tasks()
    if conf.dispatcher == "celery" and not find_spec("celery"):
        yield message("authservice.E103")
    elif conf.dispatcher == "celery":
        if import_module("celery").current_app.main == _FALLBACK_APP:
            yield message("authservice.W235")
        if not conf.notice_queue:
            yield _shared_queue()
    if conf.sms_sender:
        yield from _sender()
    if conf.sms_countries and not find_spec("phonenumbers"):
        yield message("authservice.E123")
    if bool(conf.capture) != bool(conf.restore):
        yield message("authservice.E126")
    if not root.api_url:
        yield message("authservice.W120")

    # Whether e-mails go to Django's default server without a setting that names it. A project that
    # names it wants it.
    is_overridden: Any = settings.is_overridden  # type: ignore[misc]
    server_is_named = any(map(is_overridden, ("EMAIL_HOST", "EMAIL_PORT", "MAILERS")))
    if not settings.DEBUG and not server_is_named:
        server = mail.mailer()
        if (getattr(server, "host", ""), getattr(server, "port", 0)) == _DEFAULT_MAIL_SERVER:
            yield message("authservice.W236")


def check_production(**_: Any) -> Iterator[CheckMessage]:
    if not _readable():
        return
    if conf.sms_sender == "console":
        yield message("authservice.W113")
    sender = conf.from_email or settings.DEFAULT_FROM_EMAIL
    if "@" not in sender or parseaddr(sender)[1].endswith("@localhost"):
        text = (
            f"E-mails have the sender {sender!r}: mail servers refuse them or take them for spam."
        )
        yield message("authservice.W242", text)
    backend = type(mail.mailer())
    if outcome := _NOT_SENT.get(backend.__module__):
        text = f"The e-mail backend is {backend.__module__}.{backend.__qualname__}: e-mails are"
        yield message("authservice.W241", f"{text} not sent, but {outcome}.")


def _readable() -> bool:
    # Core's own check reports wrong keys and types; until they are fixed, no setting can be read.
    # Checks stay registered even if a project's tests uninstall the module temporarily.
    return apps.is_installed("authservice.notification") and not list(complaints())


def _tasks() -> Iterator[CheckMessage]:
    if django.VERSION < (6, 0):
        yield message("authservice.E102")
        return
    options = getattr(settings, "TASKS", {}).get("default", {})
    backend, queues = options.get("BACKEND", ""), options.get("QUEUES", ["default"])
    # An empty `QUEUES` allows every name.
    if conf.notice_queue and queues and conf.notice_queue not in queues:
        text = f"NOTIFICATION.NOTICE_QUEUE is {conf.notice_queue!r}, which TASKS does not list."
        yield message("authservice.E104", text)
    if not backend or backend.rpartition(".")[2] in _UNQUEUED:
        yield message("authservice.W102")
    elif not conf.notice_queue and not _knows_priorities(backend):
        hint = "Set NOTIFICATION.NOTICE_QUEUE to a queue that TASKS['default']['QUEUES'] lists."
        yield _shared_queue(hint)


def _shared_queue(hint: str = "") -> CheckMessage:
    return message("authservice.W103", hint=hint)


def _knows_priorities(backend: str) -> bool:
    try:
        return bool(getattr(import_string(backend), "supports_priority", False))
    except ImportError:
        return True  # Django reports the import error itself


def _sender() -> Iterator[CheckMessage]:
    if conf.sms_sender == "webhook":
        try:
            http_client.target_of(conf.sms_webhook_url)
        except Refused as refusal:
            text = f"NOTIFICATION.SMS_WEBHOOK_URL: {refusal} No SMS is sent."
            yield message("authservice.E111", text)
    if conf.sms_sender == "twilio":
        names = ("TWILIO_ACCOUNT_SID", "TWILIO_AUTH_TOKEN", "TWILIO_FROM")
        missing = [name for name in names if not getattr(conf, name.lower())]
        if missing:
            verb = "is" if len(missing) == 1 else "are"
            text = f"NOTIFICATION.SMS_SENDER is 'twilio', but {', '.join(missing)} {verb} not set."
            yield message("authservice.E112", text)
        if not find_spec("twilio"):
            yield message("authservice.E113")
