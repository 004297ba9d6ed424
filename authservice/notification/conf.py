"""Settings of e-mail and SMS."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from importlib.util import find_spec
from typing import Annotated, Literal

from authservice.kernel.rules import Function, NotNegative, Positive, Rule, function
from authservice.kernel.sections import service_name
from authservice.kernel.settings import section

DISPATCHERS = ("thread", "tasks", "celery", "inline")
_BrandKey = Literal["name", "logo_url", "color", "support_email"]
SENDERS = ("console", "webhook", "twilio")


def _is_country(code: str) -> bool:
    """Whether numbers of a country with this ISO 3166 code exist. True if the `phone` extra is not
    installed: the system check E123 reports that."""
    if not find_spec("phonenumbers"):
        return True
    import phonenumbers

    return code in phonenumbers.SUPPORTED_REGIONS


_Country = Annotated[
    str,
    Rule(
        "the ISO 3166 code of a country",
        _is_country,
        "Use codes of two characters A-Z, such as ['DE', 'AT'].",
    ),
]


@dataclass(frozen=True, kw_only=True)
class Notification:
    """`AUTHSERVICE["NOTIFICATION"]`."""

    dispatcher: Annotated[str, function(*DISPATCHERS)] = "thread"
    """How jobs reach the worker: `"thread"`, `"tasks"` (django.tasks), `"celery"`, `"inline"` (for
    tests only), or the dotted path of a callable that accepts a `Message`."""
    capture: Function = ""
    """Dotted path of `() -> JSON value`, which is called in the request. It returns state that a
    job needs and that is not in its context, such as the schema of a tenant. Requires `RESTORE`."""
    restore: Function = ""
    """Dotted path of `(state) -> context manager`, in which a job runs and is published."""
    retries: NotNegative[int] = 8
    """How often a failed message is retried: for 21 minutes by default."""
    backoff: NotNegative[timedelta] = timedelta(seconds=5)
    """Pause before the first retry. Each further pause is twice as long, up to an hour."""
    queue_size: Positive[int] = 1000
    """How many messages may wait in a process, counted separately for notices and for messages that
    a user waits for. If the queue is full, a further message is dropped and an error is logged."""
    notice_queue: str = ""
    """Queue of Celery or of django.tasks for notices, so that links and codes do not wait behind
    them. If empty, both use the default queue."""
    from_email: str = ""
    """Sender address of e-mails. If empty, `DEFAULT_FROM_EMAIL` is used."""
    email_timeout: Positive[timedelta] = timedelta(seconds=10)
    """Timeout of the mail server, unless Django's own settings set one."""
    sms_sender: Annotated[str, function(*SENDERS)] = ""
    """How SMS are sent: `""` (never), `"console"`, `"webhook"`, `"twilio"`, or the dotted path of a
    callable `(to, body) -> None`."""
    sms_per_hour: Positive[int] = 1000
    """How many SMS the service sends per hour. A fifth is reserved for verified numbers."""
    sms_countries: tuple[_Country, ...] = ()
    """ISO 3166 codes of the countries that SMS are sent to, such as `["DE", "AT"]`. If empty, all
    countries are allowed. Requires the `phone` extra."""
    sms_webhook_url: str = ""
    """URL to which the webhook sender posts `{"to", "body"}` as JSON."""
    sms_webhook_timeout: Positive[timedelta] = timedelta(seconds=10)
    """Timeout of the webhook request."""
    twilio_account_sid: str = ""
    """Account SID of the Twilio sender."""
    twilio_auth_token: str = ""
    """Auth token of that account. Keep it secret."""
    twilio_from: str = ""
    """The sender's phone number, or the SID of a messaging service."""
    welcome: bool = False
    """Send a welcome e-mail to new users."""
    new_device: bool = True
    """Notify users of a login from a new device."""
    brand: dict[_BrandKey, str] = field(default_factory=dict)
    """Branding for templates: `name` (by default the host name, unless it is `localhost` or an IP
    address), `logo_url`, `color`, `support_email`."""
    language: Function = ""
    """Dotted path of `(user) -> language code`. It takes precedence over the language of the
    request."""


conf = section("NOTIFICATION", Notification)

COLOR = "#1a56db"


def brand() -> dict[str, str]:
    """The host's branding, with defaults for missing keys."""
    defaults = {"name": service_name(), "logo_url": "", "color": COLOR, "support_email": ""}
    return defaults | {str(key): text for key, text in conf.brand.items()}


def pause(attempt: int) -> timedelta:
    """How long to wait after a failed attempt; the first attempt is number 1."""
    longest = timedelta(hours=1)
    # Both factors are bounded: after dozens of attempts the product is too large for a timedelta.
    doubled: timedelta = min(conf.backoff, longest) * 2 ** min(attempt - 1, 32)
    return min(doubled, longest)
