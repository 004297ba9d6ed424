"""Log in with a magic link or its code: send both by e-mail, then, when one of them is used, prove
the address and log in with `login.enter`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.db import transaction

from authservice.core import errors
from authservice.core.credentials import lockout, one_time, passwords
from authservice.core.credentials.one_time import Purpose
from authservice.core.login import login
from authservice.core.login.login import Login
from authservice.core.messages import compose, mailed_links, sending
from authservice.core.messages.compose import OutgoingMessage
from authservice.core.models import OneTimeToken
from authservice.core.recovery import first_proof
from authservice.core.users import identifiers, lookup
from authservice.core.users.person import Person
from authservice.kernel import databases, events, message_queue
from authservice.kernel.client import Client
from authservice.kernel.errors import Fault
from authservice.kernel.interfaces import AccountAccess
from authservice.kernel.message_queue import Message
from authservice.kernel.secret import Secret
from authservice.magiclink import auto_register
from authservice.magiclink.auto_register import METHOD
from authservice.magiclink.conf import conf

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
    sending.to_email(KIND, email, client, details=auto_register.origin(client))


def message_builders() -> Mapping[str, Callable[[Message], OutgoingMessage | None]]:
    return {KIND: _compose}


def _compose(message: Message) -> OutgoingMessage | None:
    owner = lookup.find_by_email(message.target) or auto_register.register(message)
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
        lockout.count_throttle(lockout.network_of(owner, client))
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
            auto_register.forget(present)
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
