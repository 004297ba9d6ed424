"""What happens to a job in the background: looked up, minted, rendered, sent.

Nothing secret exists before this point, so a queue never holds more than whom to write to and why.
An error of the transport is the dispatcher's to try again, which mints anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.utils import translation

from authservice.core.messages import compose, counting, lost_notices
from authservice.core.messages.counting import TextPolicy
from authservice.kernel.message_queue import Message
from authservice.notification import failures, mail, sms
from authservice.notification.conf import conf
from authservice.notification.languages import language_of

_ROADS = {"email": mail.send, "sms": sms.send}


def deliver(message: Message) -> None:
    """Send what the job asks for, or nothing where nobody is to be written to.

    Also enqueues security notices again that were lost, see `lost_notices`.
    """
    lost_notices.look()
    texts = TextPolicy(per_hour=conf.sms_per_hour, countries=conf.sms_countries)
    letter = compose.compose(message, texts)
    if letter is None:
        return
    try:
        with translation.override(language_of(letter)):
            _ROADS[letter.channel](letter)
    except Exception:
        counting.refund(letter.counted)
        raise


def attempt(message: Message, number: int) -> bool:
    """Whether the job is done; if not, the failure is logged."""
    try:
        deliver(message)
    except Exception as wrong:
        failures.failed(message, number, wrong)
        return False
    return True


def to_dict(message: Message) -> dict[str, Any]:
    """The job as JSON-able values, for queues."""
    return asdict(message)


def from_dict(job: Mapping[str, Any]) -> Message:
    return Message(**job)
