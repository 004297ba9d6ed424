"""Settings of mail and text messages."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import urlsplit

from authservice.kernel.sections import frontend, root
from authservice.kernel.settings import section


@dataclass(frozen=True, kw_only=True)
class Notification:
    """`AUTHSERVICE["NOTIFICATION"]`."""

    dispatcher: str = "thread"
    """`"thread"`, `"tasks"` (django.tasks), `"celery"`, `"inline"` (for tests alone), or the dotted
    path of a callable that takes a `Message`."""
    retries: int = 5
    """How often a message that could not be sent is tried again."""
    backoff: timedelta = timedelta(seconds=5)
    """Pause before the first of these tries; each further pause is twice as long."""
    queue_size: int = 1000
    """How many messages may wait in a process, counted separately for notices and for messages that
    a user waits for. One more is dropped, and that is logged."""
    notice_queue: str = ""
    """Queue of Celery or of django.tasks for notices, so that links and codes do not wait behind
    them; empty means the default queue for both."""
    from_email: str = ""
    """Sender of mails; empty means `DEFAULT_FROM_EMAIL`."""
    email_timeout: timedelta = timedelta(seconds=10)
    """How long a mail server may be silent, where Django's own settings do not say."""
    sms_sender: str = ""
    """`""` (no text messages), `"console"`, `"webhook"`, `"twilio"`, or the dotted path of a
    callable `(to, body) -> None`."""
    sms_per_hour: int = 1000
    """How many text messages the service sends per hour. A fifth is kept for verified numbers."""
    sms_countries: tuple[str, ...] = ()
    """ISO 3166 codes of the countries that text messages are sent to, such as `["DE", "AT"]`; empty
    means all. Needs the `phone` extra."""
    sms_webhook_url: str = ""
    """Where the webhook sender posts `{"to", "body"}`."""
    sms_webhook_timeout: timedelta = timedelta(seconds=10)
    """How long that address may be silent."""
    twilio_account_sid: str = ""
    """Account of the Twilio sender."""
    twilio_auth_token: str = ""
    """Its secret."""
    twilio_from: str = ""
    """The number messages come from, or the SID of a messaging service."""
    welcome: bool = False
    """Whether new users get a welcome mail."""
    new_device: bool = True
    """Whether users are told of a sign-in from a device not seen before."""
    brand: dict[str, str] = field(default_factory=dict)
    """What templates show: `name`, `logo_url`, `color`, `support_email`."""
    language: str = ""
    """Dotted path of `(user) -> language code`, asked before the language of the request."""


conf = section("NOTIFICATION", Notification)

COLOR = "#1a56db"
BRAND_KEYS = ("name", "logo_url", "color", "support_email")


def brand() -> dict[str, str]:
    """The host's branding over the defaults; a service without a name goes by its host name."""
    address = urlsplit(frontend.url or root.api_url).hostname or ""
    defaults = {"name": address, "logo_url": "", "color": COLOR, "support_email": ""}
    return {**defaults, **conf.brand}


def pause(attempt: int) -> timedelta:
    """How long to wait after a try that failed; the first is number 1."""
    pauses: timedelta = conf.backoff * 2 ** (attempt - 1)
    return min(pauses, timedelta(hours=1))
