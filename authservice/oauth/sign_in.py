"""Log a user of a provider in: by the link, by the verified address, or with a new account.

The identity is provider and subject, never the address: providers let users change it, and mail
domains assign the addresses of former users to others. An address links an account only if the
provider has verified it, and if nobody had proven it before, all earlier access to the account is
removed first (account pre-hijacking). Every login ends at the one door, `login.enter`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from authservice.core.conf import core
from authservice.core.credentials import attempt_counter
from authservice.core.credentials.attempt_counter import Budget
from authservice.core.errors import UserAlreadyExists
from authservice.core.login import host_hooks, login
from authservice.core.login.login import Login, NewAccount
from authservice.core.messages import kinds, security_notice
from authservice.core.recovery import first_proof, verification
from authservice.core.users import identifiers
from authservice.core.users.person import Person
from authservice.kernel import clock, databases, events, message_queue, throttling
from authservice.kernel.client import Client
from authservice.kernel.errors import Fault
from authservice.oauth import errors, eviction, linking, profiles, provider_settings, storage
from authservice.oauth import tokens as provider_tokens
from authservice.oauth.conf import conf
from authservice.oauth.provider import Profile, ProviderTokens
from authservice.oauth.storage import Link, LinkTaken

# Not a value of RFC 8176, which has none for a login at another service.
PROOFS = ("oauth",)
_ATTEMPTS = 3
# An attacker may try as often as the limits allow; the owner reads one mail a day about it.
_ONE_NOTICE = Budget.fixed(limit=1, window=timedelta(days=1))


@dataclass(frozen=True, kw_only=True)
class SignedIn:
    """The result of a login; `is_new_user` is true if it created the account."""

    outcome: Login
    is_new_user: bool
    provider: str


@dataclass(frozen=True, kw_only=True)
class Arriving:
    """A user of a provider who logs in. `caller` is described at
    `first_proof.confirm_address`."""

    provider: str
    profile: Profile
    tokens: ProviderTokens | None
    client: Client
    caller: Person | None

    @property
    def method(self) -> str:
        return provider_settings.login_method(self.provider)

    def link(self, person: Person, *, at_signup: bool = False) -> Link:
        return Link(
            user_id=person.user.pk,
            provider=self.provider,
            subject=self.profile.subject,
            email=self.profile.email,
            at_signup=at_signup,
            added_at=clock.now(),
            sealed_tokens=provider_tokens.seal(person.id, self.provider, self.tokens),
        )


def sign_in(
    provider: str,
    profile: Profile,
    tokens: ProviderTokens | None,
    client: Client,
    *,
    caller: Person | None,
) -> SignedIn:
    """Log the user of this profile in. `caller` is described at `first_proof.confirm_address`.

    Raises errors of this module, and as `login.enter` does.
    """
    arriving = Arriving(
        provider=provider,
        profile=profiles.cleaned(profile, provider),
        tokens=tokens if conf.store_provider_tokens else None,
        client=client,
        caller=caller,
    )
    # The code is used up, so a deadlock must be resolved here: the view cannot repeat the request.
    return databases.retry_on_deadlock(lambda: _resolved(arriving))


def _resolved(arriving: Arriving) -> SignedIn:
    """Repeat a login that another one has overtaken: of two first logins at once, one creates the
    account or the link, and the other finds it."""
    for attempt in range(_ATTEMPTS):
        try:
            return _sign_in(arriving, repeated=attempt > 0)
        except (LinkTaken, UserAlreadyExists):
            continue
    person = storage.users().find_by_email(arriving.profile.email)
    # No user has the address if two users of the host project share it.
    raise _refusal(arriving, person, errors.AlreadyLinked() if person else errors.EmailTaken())


def _sign_in(arriving: Arriving, *, repeated: bool) -> SignedIn:
    profile = arriving.profile
    link = storage.links().find(arriving.provider, profile.subject)
    person = storage.users().find(link.user_id) if link else None
    if link is not None and person is not None:
        return _returning(arriving, person, link)
    # The response for an unverified address would tell whether it has an account.
    hidden = core.signup_enumeration == "hide" and not profile.email_verified
    if not profile.email or hidden:
        raise errors.EmailRequired
    person = storage.users().find_by_email(profile.email)
    if person is not None:
        return _link_by_email(arriving, person)
    if not (conf.allow_signup and core.allow_signup):
        # Counted like a question about the address: this refusal says that it is free, others say
        # that it is taken.
        throttling.count("is-available", arriving.client.network)
        raise errors.SignupByProviderDisabled
    if not repeated:
        throttling.count("signup", arriving.client.network)
    new_user = profiles.new_user(profile)
    host_hooks.require_signup_allowed(new_user, arriving.client, method=arriving.method)
    account = NewAccount(new_user, partial(storage.users().create, new_user))
    return _enter(arriving, account, lambda created: _complete_signup(arriving, created))


def _returning(arriving: Arriving, person: Person, link: Link) -> SignedIn:
    if _has_same_address(arriving, person) and not person.email_proven:
        return _change_and_enter(arriving, person, lambda present: _prove(arriving, present, link))
    login.check_may_log_in(person, arriving.client, method=arriving.method)

    def linked(present: Person) -> Person:
        _require_link(arriving, link)
        return present

    def then(_: Login) -> None:
        # Last: the lock order is users, one-time tokens, accounts, then the tables of modules.
        if arriving.tokens:
            provider_tokens.store(link, arriving.tokens)

    return _enter(arriving, person, linked, then=then)


@databases.inside_transaction
def _require_link(arriving: Arriving, link: Link) -> None:
    """Refuse a login whose link was removed since it was read; raises `LinkTaken`, so that the
    login is decided again.

    The caller holds the lock of the user's row, and so does every removal. An earlier removal has
    committed and is visible here. A later removal waits, and then ends the session or the challenge
    of this login. A new row that references the user is not enough: on PostgreSQL the removal would
    not wait for it.
    """
    present = storage.links().find(arriving.provider, arriving.profile.subject)
    if present is None or present.user_id != link.user_id:
        raise LinkTaken


def _has_same_address(arriving: Arriving, person: Person) -> bool:
    profile = arriving.profile
    return profile.email_verified and person.email_key == identifiers.email_key(profile.email)


def _link_by_email(arriving: Arriving, person: Person) -> SignedIn:
    if arriving.profile.email_verified and provider_settings.links_by_email(arriving.provider):
        try:
            return _link_and_enter(arriving, person)
        except linking.REFUSALS as fault:
            # Outside the transaction, so that the audit entry and the notice stay.
            refusal = _refusal(arriving, person, fault)
            _notify_of_refusal(arriving, person)
            raise refusal from None
    if storage.links().find(arriving.provider, arriving.profile.subject):
        raise LinkTaken  # another first login has created the account meanwhile
    if arriving.profile.email_verified:
        raise _refusal(arriving, person, errors.AccountLinkingDisabled())
    raise _refusal(arriving, person, errors.EmailTaken())


def _change_and_enter(
    arriving: Arriving, person: Person, change: Callable[[Person], Person], **options: Any
) -> SignedIn:
    """Change the account of a user whose address the provider has verified, then log them in."""
    # The other reasons to refuse are checked after the change, which may prove the address.
    if not person.active:
        login.check_may_log_in(person, arriving.client, method=arriving.method)

    def changed(present: Person) -> Person:
        if not _has_same_address(arriving, present) or not present.active:
            raise LinkTaken  # changed since it was read: decide again
        return change(present)

    return _enter(arriving, person, changed, **options)


def _prove(arriving: Arriving, person: Person, link: Link) -> Person:
    """Prove the address, which the provider has verified since the account was linked."""
    _require_link(arriving, link)
    # The user of the provider who created the account is no intruder in it.
    caller = person if link.at_signup else arriving.caller
    person = first_proof.confirm_address(person, arriving.client, caller=caller)
    links = storage.links()
    stored = links.find(link.provider, link.subject)
    if stored is None:  # the proof has removed it, with all earlier access
        new_link = arriving.link(person)
        links.add(new_link)
        eviction.forget(new_link)
    elif arriving.tokens:
        provider_tokens.store(stored, arriving.tokens)
    return person


def _link_and_enter(arriving: Arriving, person: Person) -> SignedIn:
    """Log the owner of the address in. The provider is linked when the login is complete: somebody
    who has only the mailbox, and not the second factor, must not leave a link in the account."""
    before: dict[str, Any] = {}
    pending: dict[str, Any] = {}  # filled by `change`, before the login may be challenged

    def change(present: Person) -> Person:
        subject = arriving.profile.subject
        linking.require_linkable_by_address(present, arriving.provider, subject)
        before.update(security_notice.state_of(present))
        pending.update(linking.pending(arriving.link(present)))
        return first_proof.confirm_address(present, arriving.client, caller=arriving.caller)

    def complete(present: Person) -> None:
        linking.add_by_address(present, arriving.link(present), arriving.client, before)

    def then(outcome: Login) -> None:
        # Without a challenge, `complete` has added the link. With one the link could not be added
        # after the code either, and then no code would complete the login.
        if outcome.challenges:
            linking.require_no_other(outcome.person, arriving.provider)

    return _change_and_enter(
        arriving, person, change, complete=complete, then=then, pending=pending
    )


def _complete_signup(arriving: Arriving, person: Person) -> Person:
    client, verified = arriving.client, arriving.profile.email_verified
    events.record("auth.signup", person, client, method=arriving.method)
    if verified:
        verification.accept_email(person, client)
    else:
        using = databases.primary()
        message_queue.send(kinds.VERIFY_EMAIL, person.email, client, using=using)
    storage.links().add(arriving.link(person, at_signup=True))
    events.record("auth.oauth.linked", person, client, provider=arriving.provider)
    return person


def _enter(
    arriving: Arriving,
    account: Person | NewAccount,
    change: Callable[[Person], Person],
    **options: Any,
) -> SignedIn:
    """`options` are further ones of `login.enter`."""
    method = arriving.method
    outcome = login.enter(
        account, arriving.client, method=method, proofs=PROOFS, change=change, **options
    )
    if not (outcome.tokens or outcome.challenges):
        raise LinkTaken  # the user was deleted since they were read: decide again
    is_new = isinstance(account, NewAccount)
    return SignedIn(outcome=outcome, is_new_user=is_new, provider=arriving.provider)


def _refusal(arriving: Arriving, person: Person | None, fault: Fault) -> Fault:
    """The refusal, which is recorded. It says that an address is taken, so it is counted like a
    question about the address (`is-available`); raises `TooManyRequests`."""
    throttling.count("is-available", arriving.client.network)
    login.record_failure(person, arriving.client, fault.code.lower(), method=arriving.method)
    return fault


@databases.outside_transactions
def _notify_of_refusal(arriving: Arriving, person: Person) -> None:
    """Notify the owner that `require_linkable_by_address` refused a login, at most once a day."""
    counter = attempt_counter.key("oauth-refused", person.id)
    if person.email_proven and attempt_counter.try_consume(counter, _ONE_NOTICE):
        provider, email = arriving.provider, arriving.profile.email
        linking.notify_of_refusal(person, arriving.client, provider, email)
