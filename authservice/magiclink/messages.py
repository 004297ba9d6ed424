"""The e-mail with a link and a code; the worker creates it, like every message."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.db import transaction

from authservice.core.credentials import one_time, passwords
from authservice.core.credentials.one_time import Purpose
from authservice.core.messages import compose, links, sending
from authservice.core.messages.compose import OutgoingMessage
from authservice.core.users import lookup
from authservice.core.users.person import Person
from authservice.kernel import databases, events
from authservice.kernel.client import Client
from authservice.kernel.message_queue import Message
from authservice.magiclink import auto_register
from authservice.magiclink.conf import conf

KIND = "magic-link"
VERIFY = "magic-link-verify"  # name of the route
LASTING_TTL = timedelta(hours=24)


def purpose() -> Purpose:
    return Purpose("magic-link", link_ttl=conf.ttl, code_ttl=conf.ttl)


def message_builders() -> Mapping[str, Callable[[Message], OutgoingMessage | None]]:
    return {KIND: _compose}


def _compose(message: Message) -> OutgoingMessage | None:
    found = lookup.find_by_email(message.target) or auto_register.register(message)
    person = compose.reachable(found)
    if person is None:
        return None
    with transaction.atomic(using=databases.primary()):
        passwords.lock_and_read(person)
        client = Client(request_id=message.request_id)
        events.record("auth.magiclink.sent", person, client)
        if sending.LAST in message.details:
            secrets = _lasting_link(person)
        else:
            secrets = _link_and_code(person)
    return compose.mail(message, person, **secrets)


def _link_and_code(person: Person) -> dict[str, Any]:
    token, code = one_time.issue_link_and_code(purpose(), person, person.email_key)
    return {"link": links.to_route(VERIFY, token), "code": code, "expires_in": conf.ttl}


def _lasting_link(person: Person) -> dict[str, Any]:
    """The link of the one e-mail a day that is sent beyond the limit. It has no code, so that later
    requests do not revoke it."""
    ttl = max(conf.ttl, LASTING_TTL)
    lasting = replace(purpose(), link_ttl=ttl)
    token = one_time.issue_link(lasting, person, person.email_key)
    return {"link": links.to_route(VERIFY, token), "expires_in": ttl}
