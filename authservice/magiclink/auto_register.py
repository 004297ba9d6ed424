"""Accounts made for addresses that nobody knew: open to who reads the mail, gone if nobody does.

Anybody can ask with any address. So these are made in the worker, where nobody waits for it; one
network gets so many and no more; and what is not used within a day the sweep takes away. A ticket
without a secret says which accounts those are.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX, make_password
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from authservice.core.credentials import one_time
from authservice.core.credentials.one_time import Purpose
from authservice.core.models import OneTimeToken, Session
from authservice.core.users import creation, lookup
from authservice.core.users.creation import NewUser
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel import crypto, databases, errors, events, throttling
from authservice.kernel.client import Client
from authservice.kernel.events import Event
from authservice.kernel.message_queue import Message
from authservice.magiclink.conf import conf

METHOD = "magic-link"
_FLOOD = "auto-register"
_UNUSED = Purpose("first-use", link_ttl=timedelta(days=1))


def origin(client: Client) -> Mapping[str, str]:
    """What a job says of where it was asked for: who asks is counted, and named to nobody."""
    return {"network": crypto.digest(_FLOOD, client.network)} if conf.auto_register else {}


def register(message: Message) -> Person | None:
    """An account for the target of a job, who may have come in by another road meanwhile."""
    if not conf.auto_register:
        return None
    with suppress(errors.Fault):
        throttling.count(_FLOOD, message.details.get("network", ""))
        return creation.create_user(
            NewUser(email=message.target),
            make_password(None),
            lambda person: _welcomed(person, message),
        )
    return lookup.find_by_email(message.target)


def forget(person: Person) -> None:
    """The account is in use."""
    one_time.revoke_all(person, _UNUSED)


def expired_rows() -> dict[str, QuerySet[Any]]:
    """Accounts that were made a day ago and that nobody has used or touched."""
    using = databases.primary()
    waiting = OneTimeToken.objects.using(using).filter(
        purpose=_UNUSED.name, user=OuterRef("pk"), spent_at=None, expires_at__lte=timezone.now()
    )
    users = (
        host()
        .model._base_manager.using(using)
        .filter(
            Exists(waiting),
            ~Exists(Session.objects.using(using).filter(user=OuterRef("pk"))),
            password__startswith=UNUSABLE_PASSWORD_PREFIX,
            authservice_account__verified_email_key="",
            authservice_account__updated_at=None,
        )
    )
    return {"unused accounts": users}


def _welcomed(person: Person, message: Message) -> Person:
    one_time.issue_link(_UNUSED, person)
    client = Client(request_id=message.request_id)
    event = Event(
        action="auth.signup", user=person.user, client=client, metadata={"method": METHOD}
    )
    events.record(event)
    return person
