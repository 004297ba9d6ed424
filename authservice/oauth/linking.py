"""Link and unlink providers of a signed-in user.

Everything is checked again at the callback, under the lock of the user's row: the session that
started the flow must still be valid, so a user who logged out or lost the session links nothing.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone

from authservice.core.messages import security_notice
from authservice.core.models import Session
from authservice.core.recovery import first_proof
from authservice.core.sessions import sessions
from authservice.core.sessions.authentication import Caller
from authservice.core.users import identifiers
from authservice.core.users.person import Person
from authservice.kernel import databases, events
from authservice.kernel.client import Client
from authservice.kernel.errors import InvalidToken
from authservice.kernel.modules import plugs
from authservice.kernel.retries import retry_on_deadlock
from authservice.kernel.secret import Secret
from authservice.oauth import (
    errors,
    messages,
    profiles,
    registry,
    removed_links,
    sealing,
    state,
    storage,
)
from authservice.oauth.conf import conf
from authservice.oauth.provider import Flow, Profile, ProviderResult, ProviderTokens
from authservice.oauth.state import Linking
from authservice.oauth.storage import Link, LinkTaken


def linked(person: Person) -> list[str]:
    """The names of the providers that are linked to the user."""
    return [link.provider for link in storage.links().of_user(person.user.pk)]


def store_state(flow: Flow, caller: Caller) -> Secret:
    """Store the state of a flow that links; returns the value of its cookie. Raises
    `InvalidToken`."""
    with sessions.changing(caller.person, caller.session) as present:
        started_by = Linking(user_id=present.user.pk, session_id=caller.session_id)
        return state.store(flow, linking=started_by)


def link(started_by: Linking, provider: str, result: ProviderResult, client: Client) -> None:
    """Link the user of the provider to the user who started the flow; nothing changes if they are
    linked already. Raises `InvalidState` or `AlreadyLinked`."""
    found = sessions.find_for_request(started_by.session_id)
    if found is None:
        raise errors.InvalidState
    person, session = found[0], sessions.as_model(found[1])
    profile = profiles.cleaned(result.profile)
    try:
        retry_on_deadlock(lambda: _link(person, session, provider, profile, result.tokens, client))
    except InvalidToken as wrong:
        raise errors.InvalidState from wrong
    except LinkTaken as wrong:
        raise errors.AlreadyLinked from wrong


def unlink(person: Person, session: Session, provider: str, client: Client) -> None:
    """Remove the link of a provider. Raises `NotLinked`, `LastLoginMethod` or `InvalidToken`."""
    with sessions.changing(person, session) as present:
        chosen = [one for one in _links(present) if one.provider == provider]
        if not chosen:
            raise errors.NotLinked
        before = security_notice.state_of(present)
        for one in chosen:
            # Remembered for the link "this was not me" of the notice.
            storage.links().remove(one)
            removed_links.remember(one, present)
        if not _can_log_in(present):
            raise errors.LastLoginMethod  # rolls the removal back
        events.record("auth.oauth.unlinked", present, client, provider=provider)
        messages.notify(messages.UNLINKED, present, client, before, provider)


def unlink_by_staff(person: Person, provider: str, *, by: Any, client: Client) -> bool:
    """Remove the link of a provider, also the last way to log in: staff can mail a link to reset
    the password. Returns false if it was removed before. `by` is the member of staff."""
    removed = False
    with transaction.atomic(using=databases.primary()):
        storage.users().lock(person.user.pk)
        for one in _links(person):
            if one.provider == provider and storage.links().remove(one):
                events.record_by_staff(
                    "auth.oauth.unlinked", by, person.user, client, provider=provider
                )
                messages.notify_of_staff(messages.UNLINKED, person, client, provider)
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
        if _is_linked(present, provider, profile):
            return
        before = security_notice.state_of(present)
        if profile.email_verified and present.email_key == identifiers.email_key(profile.email):
            # The user is signed in, so this first proof removes nothing.
            present = first_proof.confirm_address(present, client, caller=present)
        storage.links().add(_new_link(present, provider, profile, tokens))
        events.record("auth.oauth.linked", present, client, provider=provider)
        messages.notify(messages.LINKED, present, client, before, provider)


def _new_link(person: Person, provider: str, profile: Profile, tokens: ProviderTokens) -> Link:
    kept = tokens if conf.store_provider_tokens else None
    return Link(
        user_id=person.user.pk,
        provider=provider,
        subject=profile.subject,
        email=profile.email,
        at_signup=False,
        added_at=timezone.now(),
        sealed_tokens=sealing.seal(person.id, provider, kept),
    )


def _is_linked(person: Person, provider: str, profile: Profile) -> bool:
    """Whether the account is linked to this user of the provider. Raises `AlreadyLinked` if it is
    linked to another one."""
    subjects = [link.subject for link in _links(person) if link.provider == provider]
    if subjects and profile.subject not in subjects:
        raise errors.AlreadyLinked
    return bool(subjects)


def _links(person: Person) -> list[Link]:
    return list(storage.links().of_user(person.user.pk))


def _can_log_in(person: Person) -> bool:
    if person.user.has_usable_password() or any(_is_usable(one) for one in _links(person)):
        return True
    return any(can_log_in(person) for can_log_in in plugs("login_method"))


def _is_usable(link: Link) -> bool:
    """Whether the user can log in with it now: links also remain of providers that the operator has
    disabled or removed from the settings."""
    provider = registry.configured().get(link.provider)
    return provider is not None and provider.enabled
