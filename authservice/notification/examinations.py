"""What `authservice_doctor` examines of messages: the mail server, the worker, and lost ones."""

from __future__ import annotations

import smtplib
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.core.mail.backends.smtp import EmailBackend
from django.utils.module_loading import import_string

from authservice.core.messages import lost_messages, security_notice
from authservice.core.users import identifiers
from authservice.kernel import clock
from authservice.kernel.checks import (
    ATTENTION,
    BROKEN,
    CALL,
    OK,
    Finding,
    NoAnswer,
    Visit,
    fault_of,
)
from authservice.notification import mail
from authservice.notification.conf import conf

_RECENT = timedelta(hours=24)
# Examinations of dispatchers that need a package of their own.
_OF_DISPATCHERS = {"celery": "authservice.notification.celery_examination.examine"}
_SUBJECT = "Test of the mail server"
_BODY = "authservice_doctor sent this mail: this installation can send mail."
# What to do if messages wait, by the dispatcher.
_START = {
    "thread": "Look for lines of the logger `authservice.notification`, and whether the web server"
    " allows threads (uWSGI: enable-threads). `manage.py authservice_cleanup` sends it now.",
    "tasks": "Start the worker of the backend in TASKS, and look into its log. (docs:"
    " running/workers)",
    "celery": "Start the workers: `celery -A PROJECT worker --queues celery,notices`, and look into"
    " their log. (docs: running/workers)",
}
_START_YOUR_OWN = "Start the worker of your dispatcher, and look into its log."


def examine_mail(visit: Visit) -> Iterator[Finding]:
    """Whether the mail server accepts a connection and the login, and a test mail if there is an
    address for one."""
    server = mail.mailer()
    if not isinstance(server, EmailBackend):
        # Backends of HTTP services connect for each mail. Check W241 reports those that send none.
        kind = f"{type(server).__module__}.{type(server).__qualname__}"
        if not visit.send_to:
            text = f"{kind} was not asked: only `--send-to ADDRESS` can tell whether it sends."
            yield Finding(area="mail", state=OK, text=text)
            return
    place = f"{server.host}:{server.port}" if isinstance(server, EmailBackend) else kind
    if hasattr(server, "timeout"):
        # Shorter than the limit of `visit.call`: the error of the server says more than `NoAnswer`.
        server.timeout = CALL * 0.8
    try:
        visit.call(partial(_log_in_and_send, server, visit.send_to))
    except Exception as error:
        yield _mail_fault(place, error)
        return
    # Django's backend logs in only with both.
    logs_in = getattr(server, "username", "") and getattr(server, "password", "")
    text = f"{place} accepts the login."
    if not logs_in:
        text = f"{place} accepts the connection. No user name and password are set."
    if visit.send_to:
        text = f"{place} accepted a mail to {visit.send_to}. Look whether it arrives."
    yield Finding(area="mail", state=OK, text=text)


def _log_in_and_send(server: Any, send_to: str) -> None:
    try:
        server.open()
        if send_to:
            message = mail.Email(
                subject=_SUBJECT,
                body=_BODY,
                from_email=conf.from_email or None,
                to=[identifiers.deliverable(send_to)],
            )
            server.send_messages([message])
    finally:
        server.close()


def _mail_fault(place: str, error: Exception) -> Finding:
    """What is wrong, according to the class of the error. Its text is not shown, since it may quote
    addresses and passwords."""
    code = lost_messages.reply_code(error)
    answer = f" ({code})" if code else ""
    keys: tuple[str, ...]
    if isinstance(error, smtplib.SMTPAuthenticationError):
        text, keys = f"refuses the user name or the password{answer}", ("username", "password")
        remedy = "Compare both with the account at the mail provider: passwords expire, and many"
        remedy += " providers need one made for programs."
    elif isinstance(error, smtplib.SMTPSenderRefused):
        text, keys = f"refuses the sender{answer}", ("from",)
        remedy = "Use an address that the mail server may send for."
    elif isinstance(error, smtplib.SMTPNotSupportedError):
        text, keys = "supports no login or no STARTTLS on this port", ("use_tls", "use_ssl", "port")
        remedy = "Port 587 needs TLS (STARTTLS), port 465 SSL, and port 25 mostly neither."
    elif isinstance(error, smtplib.SMTPException):
        text, keys = f"answered with {type(error).__name__}{answer}", ("host", "port", "use_tls")
        remedy = "Look into the log of the mail server at this time."
    else:
        reason = str(error) if isinstance(error, NoAnswer) else fault_of(error)
        text, keys = f"cannot be reached: {reason}", ("host", "port")
        remedy = f"Try `nc -vz {place.replace(':', ' ')}` on this machine: a firewall may block the"
        remedy += " port, as many cloud providers do with port 25."
    return Finding(
        area="mail",
        state=BROKEN,
        text=f"The mail server {place} {text}. No mail is sent.",
        settings=", ".join(map(_setting, keys)),
        remedy=remedy + " Then run this again with `--send-to ADDRESS`.",
    )


def _setting(key: str) -> str:
    """The name of a setting of the mail server, in the form that the project uses."""
    if key == "from":
        return "NOTIFICATION.FROM_EMAIL or DEFAULT_FROM_EMAIL"
    if getattr(settings, "MAILERS", None):
        return f"MAILERS['default']['OPTIONS'][{key!r}]"
    return {"username": "EMAIL_HOST_USER", "password": "EMAIL_HOST_PASSWORD"}.get(
        key, f"EMAIL_{key.upper()}"
    )


def examine_worker(visit: Visit) -> Iterator[Finding]:
    """Whether messages are taken from their queue and sent."""
    waiting, lost = None, 0
    if visit.has_tables:
        with visit.reading():
            waiting = security_notice.oldest_waiting()
            lost = lost_messages.number_since(clock.now() - _RECENT)
    findings: list[Finding] = []
    if path := _OF_DISPATCHERS.get(conf.dispatcher):
        findings += import_string(path)(visit)
    if waiting:
        findings.append(
            Finding(
                area="worker",
                # Threads look for waiting notices only when they send another message, so a service
                # that sends nothing else is not broken.
                state=ATTENTION if conf.dispatcher == "thread" else BROKEN,
                text=f"A security notice has waited for {_shown(waiting)}: nothing takes messages"
                " from the queue, or none of them can be sent.",
                settings="NOTIFICATION.DISPATCHER",
                remedy=_START.get(conf.dispatcher, _START_YOUR_OWN),
            )
        )
    if lost:
        findings.append(
            Finding(
                area="worker",
                state=ATTENTION,
                text=f"Messages that were given up in the last 24 hours: {lost}.",
                settings="the mail server, or what the reason of each message names",
                remedy="Correct the cause, then choose 'Send again' in the list 'Lost messages' of"
                " Django admin. (docs: notification)",
            )
        )
    if not findings:
        text = f"No notice waits for the worker of DISPATCHER {conf.dispatcher!r}."
        if conf.dispatcher == "thread":
            text = "Threads of the web server send messages, and no notice waits."
        findings.append(Finding(area="worker", state=OK, text=text))
    yield from findings


def _shown(age: timedelta) -> str:
    hours = age / timedelta(hours=1)
    return f"{hours:.0f} hours" if hours >= 2 else f"{age / timedelta(minutes=1):.0f} minutes"
