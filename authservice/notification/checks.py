"""System checks of the notification module: E errors, W warnings, each with a hint for the fix."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import django
from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, Tags, register
from django.utils.module_loading import import_string

from authservice.core.users import identifiers
from authservice.kernel.checks import message
from authservice.kernel.outbound import client
from authservice.kernel.outbound.errors import Refused
from authservice.kernel.sections import root
from authservice.kernel.settings import complaints
from authservice.notification import mail
from authservice.notification.conf import BRAND_KEYS, conf
from authservice.notification.dispatchers import DISPATCHERS
from authservice.notification.senders import SENDERS

_UNQUEUED = ("ImmediateBackend", "DummyBackend")
# The name of the app that Celery makes if the project has none.
_FALLBACK_APP = "default"
_DEFAULT_MAIL_SERVER = ("localhost", 25)
# What Django's backends that send nothing do with an e-mail.
_BACKENDS = "django.core.mail.backends."
_NOT_SENT = {
    f"{_BACKENDS}console": "printed, with links that give access to accounts",
    f"{_BACKENDS}filebased": "written to files, with links that give access to accounts",
    f"{_BACKENDS}locmem": "kept in the memory of the process",
    f"{_BACKENDS}dummy": "dropped",
}


def connect() -> None:
    register(check_notification, "authservice")
    register(check_production, Tags.security, deploy=True)


def check_notification(**_: Any) -> list[CheckMessage]:
    if not _readable():
        return []
    return [*_dispatcher(), *_sender(), *_countries(), *_content(), *_numbers()]


def _readable() -> bool:
    # Core's own check reports wrong keys and types; until they are fixed, no setting can be read.
    # Checks stay registered even if a project's tests uninstall the module temporarily.
    return apps.is_installed("authservice.notification") and not list(complaints())


def check_production(**_: Any) -> Iterator[CheckMessage]:
    if not _readable():
        return
    if conf.sms_sender == "console":
        yield message("authservice.W113")
    backend = type(mail.mailer())
    if becomes := _NOT_SENT.get(backend.__module__):
        text = f"The e-mail backend is {backend.__module__}.{backend.__qualname__}: e-mails are"
        yield message("authservice.W241", f"{text} not sent, but {becomes}.")


def _dispatcher() -> Iterator[CheckMessage]:
    chosen = conf.dispatcher
    if chosen not in DISPATCHERS:
        yield from _importable("authservice.E101", "DISPATCHER")
    if chosen == "tasks":
        yield from _tasks()
    if chosen == "celery":
        yield from _celery()
    if chosen == "inline":
        yield message("authservice.W101")


def _celery() -> Iterator[CheckMessage]:
    if not find_spec("celery"):
        yield message("authservice.E103")
        return
    if import_module("celery").current_app.main == _FALLBACK_APP:
        yield message("authservice.W235")
    if not conf.notice_queue:
        yield _shared_queue("Set NOTIFICATION.NOTICE_QUEUE, and start a worker for that queue.")


def _shared_queue(hint: str) -> CheckMessage:
    return message("authservice.W103", hint=hint)


def _tasks() -> Iterator[CheckMessage]:
    if django.VERSION < (6, 0):
        yield message("authservice.E102")
        return
    chosen = getattr(settings, "TASKS", {}).get("default", {})
    backend, queues = chosen.get("BACKEND", ""), chosen.get("QUEUES", ["default"])
    if conf.notice_queue and queues and conf.notice_queue not in queues:
        text = f"NOTIFICATION.NOTICE_QUEUE is {conf.notice_queue!r}, which TASKS does not list."
        yield message("authservice.E104", text)
    if not backend or backend.rpartition(".")[2] in _UNQUEUED:
        yield message("authservice.W102")
    elif not conf.notice_queue and not _knows_priorities(backend):
        yield _shared_queue(
            "Set NOTIFICATION.NOTICE_QUEUE to a queue that TASKS['default']['QUEUES'] lists."
        )


def _knows_priorities(backend: str) -> bool:
    try:
        return bool(getattr(import_string(backend), "supports_priority", False))
    except ImportError:
        return True  # Django reports the import error itself


def _sender() -> Iterator[CheckMessage]:
    chosen = conf.sms_sender
    if chosen and chosen not in SENDERS:
        yield from _importable("authservice.E110", "SMS_SENDER")
    if chosen == "webhook":
        yield from _webhook()
    if chosen == "twilio":
        yield from _twilio()


def _webhook() -> Iterator[CheckMessage]:
    try:
        client.target_of(conf.sms_webhook_url)
    except Refused as refusal:
        yield message(
            "authservice.E111", f"NOTIFICATION.SMS_WEBHOOK_URL: {refusal} No SMS is sent."
        )


def _twilio() -> Iterator[CheckMessage]:
    names = ("TWILIO_ACCOUNT_SID", "TWILIO_AUTH_TOKEN", "TWILIO_FROM")
    missing = [name for name in names if not getattr(conf, name.lower())]
    if missing:
        are = "is" if len(missing) == 1 else "are"
        text = f"NOTIFICATION.SMS_SENDER is 'twilio', but {', '.join(missing)} {are} not set."
        yield message("authservice.E112", text)
    if not find_spec("twilio"):
        yield message("authservice.E113")


def _countries() -> Iterator[CheckMessage]:
    if conf.sms_countries and not find_spec("phonenumbers"):
        yield message("authservice.E123")
        return
    unknown = [code for code in conf.sms_countries if not identifiers.is_country(code)]
    if unknown:
        text = f"NOTIFICATION.SMS_COUNTRIES has unknown country codes: {unknown!r}."
        yield message("authservice.E124", text)


def _content() -> Iterator[CheckMessage]:
    if conf.language:
        yield from _importable("authservice.E120", "LANGUAGE")
    for key, value in conf.brand.items():
        if key not in BRAND_KEYS or not isinstance(value, str):
            text = f"NOTIFICATION.BRAND[{key!r}] is not a key of BRAND, or not a string."
            yield message("authservice.E121", text)
    if not root.api_url:
        yield message("authservice.W120")
    if _mail_server_is_unset():
        yield message("authservice.W236")


def _mail_server_is_unset() -> bool:
    """Whether mails go to the server that Django assumes. A project that names it itself means
    it."""
    named: Any = settings.is_overridden  # type: ignore[misc]
    if any(map(named, ("EMAIL_HOST", "EMAIL_PORT", "MAILERS"))):
        return False
    server = mail.mailer()
    return (getattr(server, "host", ""), getattr(server, "port", 0)) == _DEFAULT_MAIL_SERVER


def _numbers() -> Iterator[CheckMessage]:
    rules = {
        "RETRIES": conf.retries >= 0,
        "QUEUE_SIZE": conf.queue_size >= 1,
        "SMS_PER_HOUR": conf.sms_per_hour >= 1,
        "BACKOFF": conf.backoff >= timedelta(0),
        "EMAIL_TIMEOUT": conf.email_timeout > timedelta(0),
        "SMS_WEBHOOK_TIMEOUT": conf.sms_webhook_timeout > timedelta(0),
    }
    for name, kept in rules.items():
        if not kept:
            value = getattr(conf, name.lower())
            yield message(
                "authservice.E122", f"NOTIFICATION.{name} is {value}, which is too small."
            )


def _importable(check: str, name: str) -> Iterator[CheckMessage]:
    path = getattr(conf, name.lower())
    try:
        import_string(path)
    except ImportError as wrong:
        text = f"NOTIFICATION.{name} is {path!r}, which cannot be imported: {wrong}"
        yield message(check, text)
