"""Create accounts for unknown addresses that request a magic link; delete them if unused.

Anyone can request a link for any address. So the worker creates these accounts (response times do
not reveal which addresses are new), each network has a rate limit, and cleanup deletes an account
that is not used within a day. A one-time token without a secret marks such an account.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.db.models import Exists, OuterRef, QuerySet

from authservice.core.credentials import one_time
from authservice.core.credentials.one_time import Purpose
from authservice.core.errors import Conflict
from authservice.core.login import hook_calls
from authservice.core.models import OneTimeToken, Session
from authservice.core.users import creation, lookup
from authservice.core.users.creation import NewUser
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel import clock, crypto, databases, errors, events, throttling
from authservice.kernel.client import Client
from authservice.kernel.message_queue import Message
from authservice.magiclink.conf import conf

logger = logging.getLogger("authservice.accounts")

METHOD = "magic-link"
_RATE_LIMIT = "auto-register"
# Marks an account that is not used yet.
_UNUSED = Purpose("first-use", link_ttl=timedelta(days=1))


def origin(client: Client) -> Mapping[str, str]:
    """Job details for rate limiting: a keyed digest of the requesting network, never its address.
    Empty if auto-registration is off."""
    return {"network": crypto.digest(_RATE_LIMIT, client.network)} if _is_on() else {}


def register(message: Message) -> Person | None:
    """Create an account for the job's target if auto-registration is on.

    If that is refused, by the rate limit, by a hook of the host project, or because the address
    signed up in another way meanwhile, returns the account that now has the address, or `None`.
    """
    if not _is_on():
        return None
    try:
        throttling.count(_RATE_LIMIT, message.details.get("network", ""))
        new_user = NewUser(email=message.target)
        hook_calls.require_signup_allowed(new_user, _client(message), method=METHOD)
        return creation.create_user(
            new_user,
            creation.unusable(),
            lambda person: _complete_signup(person, message),
        )
    except (Conflict, errors.ValidationFailed):
        # No link can create an account in this project.
        logger.exception("The project's table of users refuses an account for a magic link")
    except errors.Fault:
        pass  # a refusal, see the docstring
    return lookup.find_by_email(message.target)


def forget(person: Person) -> None:
    """Remove the marker of an unused account: the account is in use now."""
    one_time.revoke_all(person, _UNUSED)


def expired_rows() -> dict[str, QuerySet[Any]]:
    """Accounts that are older than a day and were never used or changed."""
    using = databases.primary()
    overdue_markers = OneTimeToken.objects.filter(
        purpose=_UNUSED.name, user=OuterRef("pk"), spent_at=None, expires_at__lte=clock.now()
    )
    users = (
        host()
        .model._base_manager.using(using)
        .filter(
            Exists(overdue_markers),
            ~Exists(Session.objects.filter(user=OuterRef("pk"))),
            password__startswith=UNUSABLE_PASSWORD_PREFIX,
            authservice_account__verified_email_key="",
            authservice_account__updated_at=None,
        )
    )
    return {"unused accounts": users}


def _is_on() -> bool:
    return conf.auto_register and creation.may_create_account(METHOD)


def _complete_signup(person: Person, message: Message) -> Person:
    one_time.issue_link(_UNUSED, person)
    events.record("auth.signup", person, _client(message), method=METHOD)
    return person


def _client(message: Message) -> Client:
    return Client(request_id=message.request_id)
