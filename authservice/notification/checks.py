"""System checks of the notification module: E errors, W warnings, each with a hint for the fix."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

import django
from django.apps import apps
from django.conf import settings
from django.core import checks
from django.utils.module_loading import import_string

from authservice.core.users import identifiers
from authservice.kernel.sections import root
from authservice.kernel.settings import complaints
from authservice.notification.conf import BRAND_KEYS, conf
from authservice.notification.dispatchers import DISPATCHERS
from authservice.notification.senders import SENDERS

_UNQUEUED = ("ImmediateBackend", "DummyBackend")


def connect() -> None:
    checks.register(check_notification, "authservice")
    checks.register(check_production, checks.Tags.security, deploy=True)


def check_notification(**_: Any) -> list[checks.CheckMessage]:
    if not _readable():
        return []
    return [*_dispatcher(), *_sender(), *_countries(), *_letters(), *_numbers()]


def _readable() -> bool:
    # The check of the core app reports wrong keys and types; until then, settings are unreadable.
    # Checks stay registered even if a project's tests uninstall the module temporarily.
    return apps.is_installed("authservice.notification") and not list(complaints())


def check_production(**_: Any) -> Iterator[checks.CheckMessage]:
    if _readable() and conf.sms_sender == "console":
        yield checks.Warning(
            "Text messages go to the log, codes and all.",
            hint="Set NOTIFICATION.SMS_SENDER to 'webhook', 'twilio' or a sender of your own.",
            id="authservice.W113",
        )


def _dispatcher() -> Iterator[checks.CheckMessage]:
    chosen = conf.dispatcher
    if chosen not in DISPATCHERS:
        choice = ", ".join(map(repr, DISPATCHERS))
        yield from _importable("DISPATCHER", f"Use one of {choice}, or a dotted path.", "E101")
    if chosen == "tasks":
        yield from _tasks()
    if chosen == "celery":
        yield from _celery()
    if chosen == "inline":
        yield checks.Warning(
            "NOTIFICATION.DISPATCHER is 'inline': requests wait for the mail server, and how long"
            " they wait tells which addresses have an account.",
            hint="Use 'inline' in tests alone.",
            id="authservice.W101",
        )


def _celery() -> Iterator[checks.CheckMessage]:
    if not find_spec("celery"):
        yield checks.Error(
            "NOTIFICATION.DISPATCHER is 'celery', which is not installed.",
            hint="pip install 'authservice[celery]', and give the project a Celery app.",
            id="authservice.E103",
        )
    elif not conf.notice_queue:
        yield _shared_queue("Set NOTIFICATION.NOTICE_QUEUE, and start a worker for that queue.")


def _shared_queue(hint: str) -> checks.Warning:
    return checks.Warning(
        "Notices share a queue with links and codes, so many notices delay links and codes.",
        hint=hint,
        id="authservice.W103",
    )


def _tasks() -> Iterator[checks.CheckMessage]:
    if django.VERSION < (6, 0):
        yield checks.Error(
            "NOTIFICATION.DISPATCHER is 'tasks', which Django has since 6.0.",
            hint="Use 'thread' or 'celery', or a newer Django.",
            id="authservice.E102",
        )
        return
    chosen = getattr(settings, "TASKS", {}).get("default", {})
    backend, queues = chosen.get("BACKEND", ""), chosen.get("QUEUES", ["default"])
    if conf.notice_queue and queues and conf.notice_queue not in queues:
        yield checks.Error(
            f"NOTIFICATION.NOTICE_QUEUE is {conf.notice_queue!r}, which TASKS does not list.",
            hint='Add it to TASKS["default"]["QUEUES"].',
            id="authservice.E104",
        )
    if not backend or backend.rpartition(".")[2] in _UNQUEUED:
        yield checks.Warning(
            "NOTIFICATION.DISPATCHER is 'tasks', but TASKS has no backend that queues.",
            hint="Install a backend with a worker, or use 'thread'.",
            id="authservice.W102",
        )
    elif not conf.notice_queue and not _knows_priorities(backend):
        yield _shared_queue(
            'Set NOTIFICATION.NOTICE_QUEUE to a queue that TASKS["default"]["QUEUES"] lists.'
        )


def _knows_priorities(backend: str) -> bool:
    try:
        return bool(getattr(import_string(backend), "supports_priority", False))
    except ImportError:
        return True  # Django reports the import error itself


def _sender() -> Iterator[checks.CheckMessage]:
    chosen = conf.sms_sender
    if chosen and chosen not in SENDERS:
        choice = ", ".join(map(repr, SENDERS))
        yield from _importable("SMS_SENDER", f"Use one of {choice}, or a dotted path.", "E110")
    if chosen == "webhook":
        yield from _webhook()
    if chosen == "twilio":
        yield from _twilio()


def _webhook() -> Iterator[checks.CheckMessage]:
    parts = urlsplit(conf.sms_webhook_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        yield checks.Error(
            "NOTIFICATION.SMS_SENDER is 'webhook', but SMS_WEBHOOK_URL is no web address.",
            hint="Set NOTIFICATION.SMS_WEBHOOK_URL, such as 'https://sms.example.com/send'.",
            id="authservice.E111",
        )


def _twilio() -> Iterator[checks.CheckMessage]:
    names = ("TWILIO_ACCOUNT_SID", "TWILIO_AUTH_TOKEN", "TWILIO_FROM")
    missing = [name for name in names if not getattr(conf, name.lower())]
    if missing:
        yield checks.Error(
            f"NOTIFICATION.SMS_SENDER is 'twilio' without {', '.join(missing)}.",
            hint="Twilio's console shows them.",
            id="authservice.E112",
        )
    if not find_spec("twilio"):
        yield checks.Error(
            "NOTIFICATION.SMS_SENDER is 'twilio', whose package is not installed.",
            hint="pip install 'authservice[twilio]'",
            id="authservice.E113",
        )


def _countries() -> Iterator[checks.CheckMessage]:
    if conf.sms_countries and not find_spec("phonenumbers"):
        yield checks.Error(
            "NOTIFICATION.SMS_COUNTRIES needs the package phonenumbers, which is not installed.",
            hint="pip install 'authservice[phone]'",
            id="authservice.E123",
        )
        return
    unknown = [code for code in conf.sms_countries if not identifiers.is_country(code)]
    if unknown:
        yield checks.Error(
            f"NOTIFICATION.SMS_COUNTRIES has unknown country codes: {unknown!r}.",
            hint="Use ISO 3166 codes of two capital letters, such as ['DE', 'AT'].",
            id="authservice.E124",
        )


def _letters() -> Iterator[checks.CheckMessage]:
    if conf.language:
        yield from _importable("LANGUAGE", "Give the path of `(user) -> language code`.", "E120")
    for key, value in conf.brand.items():
        if key not in BRAND_KEYS or not isinstance(value, str):
            yield checks.Error(
                f"NOTIFICATION.BRAND[{key!r}] is not a text that templates know.",
                hint=f"It may have the texts {', '.join(BRAND_KEYS)}.",
                id="authservice.E121",
            )
    if not root.api_url:
        yield checks.Warning(
            "AUTHSERVICE['API_URL'] is not set: links in mails lead nowhere.",
            hint="Give the public origin, such as 'https://api.example.com'.",
            id="authservice.W120",
        )


def _numbers() -> Iterator[checks.CheckMessage]:
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
            yield checks.Error(
                f"NOTIFICATION.{name} is too small.",
                hint="RETRIES and BACKOFF may be 0; the others must be more.",
                id="authservice.E122",
            )


def _importable(name: str, hint: str, number: str) -> Iterator[checks.CheckMessage]:
    path = getattr(conf, name.lower())
    try:
        import_string(path)
    except ImportError as wrong:
        yield checks.Error(
            f"NOTIFICATION.{name} is {path!r}, which cannot be imported: {wrong}",
            hint=hint,
            id=f"authservice.{number}",
        )
