"""Log in with a magic link or its code: send both by e-mail, then, when one of them is used, prove
the address and log in with `login.enter`. Unknown addresses get an account, which is deleted if it
is not used.

Anyone can request a link for any address. So the worker creates these accounts (response times do
not reveal which addresses are new), each network has a rate limit, and cleanup deletes an account
that is not used within a day. A one-time token without a secret marks such an account.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from authservice.core import errors
from authservice.core.credentials import lockout, one_time, passwords
from authservice.core.credentials.one_time import Purpose
from authservice.core.errors import Conflict
from authservice.core.login import host_hooks, login
from authservice.core.login.login import Login
from authservice.core.messages import compose, mailed_links, sending
from authservice.core.messages.compose import OutgoingMessage
from authservice.core.models import OneTimeToken, Session
from authservice.core.recovery import first_proof
from authservice.core.users import creation, identifiers, lookup
from authservice.core.users.creation import NewUser
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel import clock, databases, events, message_queue, secret, throttling
from authservice.kernel.client import Client
from authservice.kernel.errors import Fault, ValidationFailed
from authservice.kernel.interfaces import AccountAccess
from authservice.kernel.message_queue import Message
from authservice.kernel.secret import Secret
from authservice.magiclink.conf import conf

logger = logging.getLogger("authservice.accounts")

METHOD = "magic-link"
_RATE_LIMIT = "auto-register"
# Marks an account that is not used yet.
_UNUSED = Purpose("first-use", link_ttl=timedelta(days=1))


def origin(client: Client) -> Mapping[str, str]:
    """Job details for rate limiting: a keyed digest of the requesting network, never its address.
    Empty if auto-registration is off."""
    return {"network": secret.digest(_RATE_LIMIT, client.network)} if _is_on() else {}


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
        host_hooks.require_signup_allowed(new_user, _client(message), method=METHOD)
        return creation.create_user(
            new_user,
            creation.unusable(),
            lambda person: _complete_signup(person, message),
        )
    except (Conflict, ValidationFailed):
        # No link can create an account in this project.
        logger.exception("The project's table of users refuses an account for a magic link")
    except Fault:
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


KIND = "magic-link"
VERIFY = "magic-link-verify"  # name of the route
LASTING_TTL = timedelta(hours=24)
# Not a value of RFC 8176: its `otp` would claim possession of a device; a mailed link proves none.
_PROOFS = ("email",)


def purpose() -> Purpose:
    return Purpose("magic-link", link_ttl=conf.ttl, code_ttl=conf.ttl)


def request_link(email: str, client: Client) -> None:
    """Send an e-mail with a link and a code. Raises `EmailNotConfigured`."""
    if not message_queue.can_mail():
        raise errors.EmailNotConfigured
    sending.to_email(KIND, email, client, details=origin(client))


def message_builders() -> Mapping[str, Callable[[Message], OutgoingMessage | None]]:
    return {KIND: _compose}


def _compose(message: Message) -> OutgoingMessage | None:
    owner = lookup.find_by_email(message.target) or register(message)
    person = compose.reachable(owner)
    if person is None:
        return None
    secrets: dict[str, Any]
    with transaction.atomic(using=databases.primary()):
        passwords.lock_user(person)  # for `issue_link_and_code`
        client = Client(request_id=message.request_id)
        events.record("auth.magiclink.sent", person, client)
        if sending.LAST in message.details:
            # The one e-mail a day that is sent beyond the limit has a link that lasts. It has no
            # code, so that later requests do not revoke it.
            ttl = max(conf.ttl, LASTING_TTL)
            lasting = replace(purpose(), link_ttl=ttl)
            token = one_time.issue_link(lasting, person, person.email_key)
            secrets = {"link": mailed_links.to_route(VERIFY, token), "expires_in": ttl}
        else:
            token, code = one_time.issue_link_and_code(purpose(), person, person.email_key)
            link = mailed_links.to_route(VERIFY, token)
            secrets = {"link": link, "code": code, "expires_in": conf.ttl}
    return compose.mail(message, person, **secrets)


def log_in_by_link(token: Secret, client: Client, *, caller: Person | None) -> Login:
    """Log in with the token of a link. `caller` is described at `first_proof.confirm_address`.

    Raises `InvalidLink`, `LinkExpired`, or the error with which `login` or a hook refuses the user.
    """
    try:
        person, issued = one_time.find_link(purpose(), token)
    except Fault as fault:
        owner = one_time.owner_of(token, purpose())
        lockout.count_network(owner, client)
        if owner is not None:  # attackers must not fill the log with unknown tokens
            login.record_failure(owner, client, _reason(fault), method=METHOD)
        raise
    return _enter(person, issued, client, caller, errors.InvalidLink())


def log_in_by_code(email: str, code: Secret, client: Client, *, caller: Person | None) -> Login:
    """Log in with a code. Raises as `one_time.find_code` does, or as `login` refuses the user."""
    key = identifiers.email_key(email)
    try:
        person, issued = one_time.find_code(purpose(), key, code, client=client)
    except errors.InvalidVerificationCode as fault:
        login.record_failure(lookup.find_by_email(email), client, _reason(fault), method=METHOD)
        raise
    return _enter(person, issued, client, caller, errors.InvalidVerificationCode())


def _enter(
    person: Person, issued: OneTimeToken, client: Client, caller: Person | None, if_used: Fault
) -> Login:
    # For an unverified address `login.enter` checks this, after this login has proven the address.
    if person.email_verified:
        login.check_may_log_in(person, client, method=METHOD)  # a refusal does not use the token

    def proven(present: Person) -> Person | None:
        if not one_time.consume_locked(purpose(), present, issued):
            return None
        if not present.email_verified:
            forget(present)
        return first_proof.confirm_address(present, client, caller=caller)

    outcome = login.enter(person, client, method=METHOD, proofs=_PROOFS, change=proven)
    if outcome.tokens or outcome.challenges:
        return outcome
    # The token was used or revoked meanwhile. After the transaction, so that the entry stays.
    login.record_failure(person, client, _reason(if_used), method=METHOD)
    raise if_used


def require_usable(token: Secret) -> None:
    """Raises `InvalidLink` or `LinkExpired` for a link that logs nobody in; changes nothing, and
    does not count as an attempt."""
    _, issued = one_time.find_link(purpose(), token)
    if issued.spent_at is not None:
        raise errors.InvalidLink


def target_of(token: Secret) -> str:
    """The key of the address that a link was sent to, or "" for an invalid link. The link stays
    unused."""
    try:
        return one_time.find_link(purpose(), token)[1].target_key
    except Fault:
        return ""


class MagicLinkAccess(AccountAccess):
    """Fills the slot `account_access`."""

    def can_log_in(self, person: Person) -> bool:
        return person.email_verified and message_queue.can_mail()


account_access = MagicLinkAccess()


def _reason(fault: Fault) -> str:
    return fault.code.lower()
