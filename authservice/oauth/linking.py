"""Link providers to an account, and unlink them: by its user while signed in, by staff (unlink
only), or by a login with a provider that has verified the address of the account (link only). The
owner of the account gets notices of linked and unlinked providers, with the link "this was not me",
and of refused logins.

Everything is checked again at the callback, under the lock of the user's row: the session that
started the flow must still be valid, so a user who logged out or lost the session links nothing.

A provider that has verified an address speaks for its owner. That is enough for a new link only if
nobody has decided otherwise: a removed link stays removed, and after a recovery an intruder must
not come back with another identity. It is never enough for an account with rights over others: the
administrators of any configured provider could become super admins by claiming an address. The
owner links any identity while signed in.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from django.db import transaction

from authservice.core.credentials import recovery_number
from authservice.core.messages import compose as composing
from authservice.core.messages import security_notice
from authservice.core.messages.compose import OutgoingMessage
from authservice.core.models import Session
from authservice.core.recovery import first_proof
from authservice.core.sessions import sessions
from authservice.core.sessions.bearer import Caller
from authservice.core.users import identifiers
from authservice.core.users.person import Person
from authservice.kernel import clock, databases, events, message_queue, secret
from authservice.kernel.client import Client
from authservice.kernel.errors import InvalidToken
from authservice.kernel.interfaces import AccountAccess
from authservice.kernel.message_queue import Message
from authservice.kernel.modules import plugs
from authservice.kernel.secret import Secret
from authservice.oauth import errors, eviction, profiles, provider_settings, state, storage
from authservice.oauth import tokens as provider_tokens
from authservice.oauth.conf import conf
from authservice.oauth.provider import Flow, Profile, ProviderResult, ProviderTokens
from authservice.oauth.state import Linking
from authservice.oauth.storage import Link, LinkTaken

LINKED = "provider-linked"
UNLINKED = "provider-unlinked"
REFUSED = "provider-refused"


def message_builders() -> Mapping[str, Callable[[Message], OutgoingMessage | None]]:
    """Fills the slot `message_builders`."""
    changes = dict.fromkeys((LINKED, UNLINKED), security_notice.compose)
    return {**changes, REFUSED: composing.notice}


def notify(
    kind: str, person: Person, client: Client, before: Mapping[str, Any], link: Link
) -> None:
    """Notify the owner of a change; `before` is `security_notice.state_of` before it."""
    identity = _identity(link.provider, link.email)
    security_notice.notify(kind, person, client, before, provider=identity)


def notify_of_staff(kind: str, person: Person, client: Client, link: Link) -> None:
    """Notify the owner, if the address is proven, of a change by staff, without the IP address,
    device or language of staff."""
    if not person.email_proven:
        return
    anonymous = Client(request_id=client.request_id)
    details = {"by": "staff", "provider": _identity(link.provider, link.email)}
    message_queue.send(kind, person.email, anonymous, using=databases.primary(), details=details)


def notify_of_refusal(person: Person, client: Client, provider: str, email: str) -> None:
    """Notify the owner of a login that was refused, although the provider verified the address."""
    using, client_details = databases.primary(), message_queue.describe_client(client)
    details = {**client_details, "provider": _identity(provider, email)}
    message_queue.send(REFUSED, person.email, client, using=using, details=details)


def _identity(provider: str, email: str) -> str:
    """Which user of which provider: "Google (ann@example.com)"."""
    title = provider_settings.title(provider)
    return f"{title} ({email})" if email else title


# The key in `Arrival.pending`, and the purpose for which its value is sealed.
_PENDING, _SEALING = "oauth", "oauth-pending"
# What `require_linkable_by_address` raises.
REFUSALS = (errors.AccountLinkingDisabled, errors.EmailTaken)


def linked(person: Person) -> list[str]:
    """The names of the providers that are linked to the user."""
    return [link.provider for link in storage.links().of_user(person.user.pk)]


def store_state(flow: Flow, caller: Caller, *, onward: str = "") -> Secret:
    """Store the state of a flow that links; returns the value of its cookie. Raises
    `InvalidToken`."""
    with sessions.changing(caller.person, caller.session) as present:
        started_by = Linking(user_id=present.user.pk, session_id=caller.session_id)
        return state.store(flow, linking=started_by, onward=onward)


def link(started_by: Linking, provider: str, result: ProviderResult, client: Client) -> None:
    """Link the user of the provider to the user who started the flow; nothing changes if they are
    linked already. Raises `InvalidState` or `AlreadyLinked`."""
    match = sessions.find_for_request(started_by.session_id)
    if match is None:
        raise errors.InvalidState
    person, session_row = match
    session = sessions.as_model(session_row)
    profile = profiles.cleaned(result.profile, provider)
    try:
        databases.retry_on_deadlock(
            lambda: _link(person, session, provider, profile, result.tokens, client)
        )
    except InvalidToken as error:
        raise errors.InvalidState from error
    except LinkTaken as error:
        raise errors.AlreadyLinked from error


def unlink(person: Person, session: Session, provider: str, client: Client) -> None:
    """Remove the link of a provider. Raises `NotLinked`, `LastLoginMethod` or `InvalidToken`."""
    with sessions.changing(person, session) as present:
        provider_links = [link for link in _links(present) if link.provider == provider]
        if not provider_links:
            raise errors.NotLinked
        before = security_notice.state_of(present)
        for link in provider_links:
            eviction.remove(link, current_session=session)
            # Remembered for the link "this was not me" of the notice.
            eviction.remember(link, present)
        can_log_in = present.user.has_usable_password() or any(
            access.can_log_in(present) for access in plugs(AccountAccess)
        )
        if not can_log_in:
            raise errors.LastLoginMethod  # rolls the removal back
        events.record("auth.oauth.unlinked", present, client, provider=provider)
        notify(UNLINKED, present, client, before, provider_links[0])


@clock.once  # all times that are read within one call are the same
def unlink_by_staff(person: Person, provider: str, *, by: Any, client: Client) -> bool:
    """Remove the link of a provider, also the last way to log in: staff can mail a link to reset
    the password. Returns false if it was removed before. `by` is the member of staff."""
    removed = False
    with transaction.atomic(using=databases.primary()):
        storage.users().lock(person.user.pk)
        for stored in _links(person):
            if stored.provider == provider and eviction.remove(stored):
                events.record_by_staff(
                    "auth.oauth.unlinked", by, person.user, client, provider=provider
                )
                notify_of_staff(UNLINKED, person, client, stored)
                removed = True
    return removed


def _link(
    person: Person,
    session: Session,
    provider: str,
    profile: Profile,
    tokens: ProviderTokens,
    client: Client,
) -> None:
    with sessions.changing(person, session) as present:
        # Within the lock of the user, so that no other request changes the links in between.
        subjects = [stored.subject for stored in _links(present) if stored.provider == provider]
        if subjects and profile.subject not in subjects:
            raise errors.AlreadyLinked
        if subjects:
            return
        before = security_notice.state_of(present)
        if profile.email_verified and present.email_key == identifiers.email_key(profile.email):
            # This may be the first proof of the address, which removes all earlier access. It
            # removes nothing here, since the user is signed in.
            present = first_proof.confirm_address(present, client, caller=present)
        stored_tokens = tokens if conf.store_provider_tokens else None
        new = Link(
            user_id=present.user.pk,
            provider=provider,
            subject=profile.subject,
            email=profile.email,
            at_signup=False,
            added_at=clock.now(),
            sealed_tokens=provider_tokens.seal(present.id, provider, stored_tokens),
        )
        storage.links().add(new)
        eviction.forget(new)
        events.record("auth.oauth.linked", present, client, provider=provider)
        notify(LINKED, present, client, before, new)


def _links(person: Person) -> list[Link]:
    return list(storage.links().of_user(person.user.pk))


@databases.inside_transaction
def require_linkable_by_address(person: Person, provider: str, subject: str) -> None:
    """Raises `AccountLinkingDisabled` or `EmailTaken`.

    The caller holds the lock of the user's row, so that no link is removed and no account recovered
    between this check and the commit.
    """
    if person.has_rights:
        raise errors.AccountLinkingDisabled
    # For 72 hours after a recovery (`WAIT`) an intruder must not come back; see above.
    recovered_at = person.account.recovered_at
    if recovered_at and recovered_at > clock.now() - recovery_number.WAIT:
        raise errors.EmailTaken
    if eviction.was_removed(person.user.pk, provider, subject):
        raise errors.EmailTaken


@databases.inside_transaction
def require_no_other(person: Person, provider: str) -> None:
    """Raises `LinkTaken` if the account has a link to this provider, which could not be added."""
    if any(stored.provider == provider for stored in _links(person)):
        raise LinkTaken


@databases.inside_transaction
def add_by_address(person: Person, link: Link, client: Client, before: Mapping[str, Any]) -> None:
    """Store a link that `require_linkable_by_address` allows, and notify the owner; `before` is the
    state of the account before. Raises `LinkTaken`."""
    storage.links().add(link)
    events.record("auth.oauth.linked", person, client, provider=link.provider)
    notify(LINKED, person, client, before, link)


def pending(link: Link) -> dict[str, str]:
    """The link as the challenge of a login keeps it."""
    names = ("provider", "subject", "email", "sealed_tokens")
    values = {name: getattr(link, name) for name in names}
    return {_PENDING: secret.seal(_SEALING, json.dumps(values))}


class Access(eviction.LinkAccess):
    """Fills the slot `account_access`."""

    faults = (*REFUSALS, errors.AlreadyLinked, errors.ProviderDisabled)

    def complete(self, person: Person, client: Client, pending: Mapping[str, Any]) -> None:
        """Adds the link of a login by the address, by the rules and the settings as they are
        now."""
        if _PENDING not in pending:
            return
        try:
            values = json.loads(secret.unseal(_SEALING, pending[_PENDING]))
        except secret.Unreadable as error:
            raise InvalidToken from error
        link = Link(user_id=person.user.pk, at_signup=False, added_at=clock.now(), **values)
        present = storage.links().find(link.provider, link.subject)
        if present is not None and present.user_id == link.user_id:
            return  # another login has added it
        if person.email_key != identifiers.email_key(link.email):
            raise InvalidToken  # the next login finds the account that has the address now
        provider = provider_settings.configured().get(link.provider)
        if provider is None or not provider.enabled:
            raise errors.ProviderDisabled
        if not provider_settings.links_by_email(link.provider):
            raise errors.AccountLinkingDisabled
        require_linkable_by_address(person, link.provider, link.subject)
        try:
            add_by_address(person, link, client, security_notice.state_of(person))
        except LinkTaken as error:
            raise errors.AlreadyLinked from error


account_access = Access()
