"""Logins with a passkey: alone, or as a second factor after a password and in step-ups.

In a login with a passkey nobody types a name: the device knows the account and verifies its user.
That is two factors at once: the device, and the PIN, finger or face that unlocks it.

Fills the slots `second_factor` and `account_access`. Both also decide what a recovery of the
account removes.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from django.db.models import QuerySet

from authservice.core import errors as core_errors
from authservice.core.credentials import lockout
from authservice.core.login import login
from authservice.core.login.login import Login
from authservice.core.users.person import Person
from authservice.kernel import clock, events, levels
from authservice.kernel.client import Client
from authservice.kernel.interfaces import (
    AccountAccess,
    Along,
    Arrival,
    Challenge,
    Evidence,
    Reach,
    SecondFactor,
)
from authservice.kernel.levels import HARDWARE_KEY, KEY, MFA, VERIFIED, Level
from authservice.kernel.secret import Secret
from authservice.passkeys import challenges, keys, relying_party
from authservice.passkeys.challenges import RequestOptions, Verification
from authservice.passkeys.conf import conf
from authservice.passkeys.errors import PasskeyRefused, PasskeyUnknown
from authservice.passkeys.keys import FoundPasskey
from authservice.passkeys.models import Passkey
from authservice.passkeys.own_passkeys import METHOD
from authservice.passkeys.relying_party import Assertion, Unverified

_HANDLE = "authservice_passkey_handle__id"


def begin() -> tuple[RequestOptions, Secret]:
    """The options of a login, and the token of the request. Neither depends on a user."""
    challenge = challenges.new()
    options = challenges.request(challenge, (), "required")
    return options, challenges.sign_login(challenge)


@clock.once
def log_in(request_token: Secret, credential: Mapping[str, Any], client: Client) -> Login:
    """Log in with the answer of a passkey. Raises `PasskeyUnknown` if no account has its id,
    `PasskeyRefused` for every other reason, or an error of `login.enter`."""
    try:
        challenge = challenges.read_login(request_token)
        credential_id = relying_party.id_of(credential)
    except (challenges.Expired, Unverified) as error:
        raise _refused(None, client) from error
    match = keys.find(credential_id)
    if match is None:
        lockout.count_network(None, client)
        raise PasskeyUnknown
    passkey = match.passkey
    if not passkey.verifies:
        raise _refused(match.person, client)
    try:
        assertion = checked(match, credential, challenge, verification="required", by_handle=True)
    except Unverified as error:
        raise _refused(match.person, client) from error
    # After the signature was checked, so that only the holder of the key learns why the user may
    # not log in. Before the challenge is used up, so that a refusal leaves it unused.
    login.check_may_log_in(match.person, client, method=METHOD)

    def used(present: Person) -> Person | None:
        is_first_use = challenges.use_up(challenge, present)
        if is_first_use and keys.use(passkey, assertion, present, client) == "used":
            return present
        # Recorded in this transaction, so that a copied key is never recorded without its refusal.
        _record_refusal(present, client)
        return None

    proofs = proofs_of(passkey, assertion)
    outcome = login.enter(match.person, client, method=METHOD, proofs=proofs, change=used)
    if outcome.tokens or outcome.challenges:
        return outcome
    # Neither: `used` has refused, or the user was deleted since.
    lockout.count_network(match.person, client)
    raise PasskeyRefused


def checked(
    match: FoundPasskey,
    credential: Mapping[str, Any],
    challenge: str,
    *,
    verification: Verification,
    by_handle: bool = False,
) -> Assertion:
    """The verified answer of a passkey. Its counter is not compared yet. `by_handle` says that
    nobody has named the user, so that the answer must. Raises `Unverified`."""
    assertion = relying_party.assertion(
        credential, challenge, match.passkey.public_key, verification=verification
    )
    handle = relying_party.handle_of(credential)
    if handle != match.handle and (by_handle or handle is not None):
        raise Unverified("handle of another user")
    # This flag is set when a key is created and never changes (WebAuthn Level 3, section 7.2).
    if assertion.backup_eligible != match.passkey.backup_eligible:
        raise Unverified("backup eligibility")
    return assertion


def proofs_of(passkey: Passkey, assertion: Assertion) -> tuple[str, ...]:
    """The authentication methods that an answer proves (RFC 8176)."""
    kind = HARDWARE_KEY if passkey.attested else KEY
    # A recovery unsets `verifies` of a key that may be an intruder's: it is only one factor then.
    return (kind, VERIFIED, MFA) if assertion.verified and passkey.verifies else (kind,)


def _refused(person: Person | None, client: Client) -> PasskeyRefused:
    """Count and record a refusal; attackers must not fill the log with unknown ids."""
    lockout.count_network(person, client)
    if person is not None:
        _record_refusal(person, client)
    return PasskeyRefused()


def _record_refusal(person: Person, client: Client) -> None:
    login.record_failure(person, client, PasskeyRefused.code.lower(), method=METHOD)


class PasskeyFactor(SecondFactor):
    """Passkeys and security keys of the user. Any of them may answer a challenge, since a passkey
    that is not marked as a second factor proves two factors. But logins ask for a second factor
    only if a passkey is marked as one."""

    method = METHOD
    faults = (PasskeyRefused,)

    @property
    def level(self) -> Level:  # type: ignore[override]
        return "phrh" if conf.attestation == "direct" else "phr"

    def columns(self) -> tuple[str, ...]:
        return (_HANDLE,)

    def ask(self, arrival: Arrival) -> Challenge | None:
        # The module of second factors asks for all of them in one challenge.
        return None

    def is_enabled(self, person: Person) -> bool:
        return _may_have_keys(person) and _rows(person).filter(second_factor=True).exists()

    def reaches(self, person: Person) -> Reach | None:
        if not _may_have_keys(person):
            return None
        kinds = set(_rows(person).values_list("verifies", "attested"))
        if (True, True) in kinds:
            return Reach("phrh")
        if (True, False) in kinds:
            return Reach("phr")
        return Reach("aal2") if kinds else None

    def options(
        self, person: Person, temp_token: Secret, level: Level = "aal2"
    ) -> Mapping[str, Any]:
        challenge = challenges.of_temp_token(temp_token)
        allowed = keys.of(person)
        verification: Verification = "preferred"
        if levels.includes(level, "phr"):
            # Keys that cannot reach the level would only be refused after the dialogue.
            allowed = [key for key in allowed if key.verifies and (key.attested or level == "phr")]
            verification = "required"
        if not allowed:
            return {}
        return {"passkey": challenges.request(challenge, allowed, verification)}

    @clock.once
    def examine(
        self, person: Person, credential: Mapping[str, Any], temp_token: Secret, client: Client
    ) -> Evidence:
        try:
            match = keys.find(relying_party.id_of(credential))
            if match is None or match.passkey.user_id != person.user.pk:
                raise PasskeyRefused
            challenge = challenges.of_temp_token(temp_token)
            assertion = checked(match, credential, challenge, verification="preferred")
        except Unverified as error:
            raise PasskeyRefused from error
        passkey = match.passkey
        # Recorded before the transaction of the login, which a refusal rolls back.
        if not passkey.backup_eligible and keys.has_fallen_back(passkey, assertion):
            if not keys.is_sent_twice(passkey, assertion):
                keys.record_counter("security.passkey.cloned", passkey, assertion, person, client)
            raise PasskeyRefused
        proofs = proofs_of(passkey, assertion)
        return Evidence(proofs, partial(_use, passkey, assertion, person, client))

    def verify(
        self, person: Person, code: Secret, client: Client, along: Along | None = None
    ) -> None:
        """A passkey has no code to type."""
        raise core_errors.TwoFactorRefused

    def revoke(self, person: Person, since: datetime | None) -> bool:
        reason = "unproven" if since is None else "recovery"
        return _removed(_added_since(person, since), person, reason)


class PasskeyAccess(AccountAccess):
    """Passkeys as a way to log in."""

    def first_proof(self, person: Person) -> bool:
        """Remove all passkeys: they were added by someone who had not proven that the address is
        theirs, possibly an attacker (account pre-hijacking)."""
        return _removed(_rows(person), person, "unproven")

    def recover(self, person: Person, since: datetime) -> bool:
        """A recent passkey that is a second factor stays one, as an authenticator app does: a
        mailbox is one factor and must not remove the other. But the passkey no longer logs in
        alone."""
        recent = _added_since(person, since)
        demoted = recent.filter(second_factor=True, verifies=True).update(verifies=False)
        removed = _removed(recent.filter(second_factor=False), person, "recovery")
        return bool(demoted) or removed

    def distrust(self, person: Person) -> bool:
        # No row changes: `_added_since` counts a passkey from before the proof of the address as
        # added at that proof.
        return _rows(person).exists()

    def is_set_up(self, person: Person) -> bool:
        return _rows(person).exists()

    def can_log_in(self, person: Person) -> bool:
        return _rows(person).filter(verifies=True).exists()


def _rows(person: Person) -> QuerySet[Passkey]:
    return Passkey.objects.filter(user=person.user.pk)


def _may_have_keys(person: Person) -> bool:
    """Whether the user can have passkeys, without a query: False if the columns that a login with a
    password has read say that the user has no handle, and so never had a passkey."""
    return person.gate_values.get(_HANDLE, True) is not None


def _added_since(person: Person, since: datetime | None) -> QuerySet[Passkey]:
    """The passkeys that were added at `since` or later; all if it is None. A passkey from before
    the first proof of the address counts as added at that proof."""
    proven_at = person.account.email_proven_at
    if since is None or (proven_at is not None and proven_at >= since):
        return _rows(person)
    return _rows(person).filter(created_at__gte=since)


def _removed(chosen: QuerySet[Passkey], person: Person, reason: str) -> bool:
    """Remove these passkeys and record it; returns whether there were any."""
    removed = keys.remove(chosen)
    for passkey in removed:
        details = {**keys.described(passkey), "reason": reason}
        events.record_by_staff("auth.passkey.removed", None, person.user, Client(), **details)
    return bool(removed)


def _use(passkey: Passkey, assertion: Assertion, person: Person, client: Client) -> bool:
    """Store the use of the passkey; False if it was removed meanwhile, or was copied."""
    return keys.use(passkey, assertion, person, client) == "used"


second_factor = PasskeyFactor()
account_access = PasskeyAccess()
