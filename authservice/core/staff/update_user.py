"""Changes of users by staff and their consequences, the same for the API and Django admin.

If a user is suspended or gets another address, all sessions end at once; their tokens never become
valid again. The last super admin never loses rights.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from authservice.core.messages import security_notice
from authservice.core.models import Account, PhoneSource, Session
from authservice.core.sessions import revocation, sessions
from authservice.core.staff import authority, notices, super_admins
from authservice.core.users import creation, identifiers, lookup
from authservice.core.users.identifiers import EMAIL, PHONE, USERNAME
from authservice.core.users.person import Person
from authservice.core.users.signals import own_save
from authservice.core.users.user_model import host
from authservice.kernel import databases, errors, events
from authservice.kernel.client import Client
from authservice.kernel.phrases import phrase

_OF_ACCOUNT = ("name", "avatar", "phone_number", "is_super_admin")
# Fields to compare on a page where staff change the row of the host's user model too.
_OF_PERSON = (
    *("email", "username", "first_name", "last_name", "active", "is_superuser"),
    *("email_verified", "phone_number_verified"),
)
_PROOFS = {"email": "email_verified", "phone_number": "phone_number_verified"}
_KINDS = {kind.text: kind for kind in (EMAIL, USERNAME, PHONE)}

# For each field its values `before` and `after`, as the audit event has them.
Change = Mapping[str, Mapping[str, Any]]


def update(
    pk: Any, wanted: Mapping[str, Any], *, by: Person, session: Session, client: Client
) -> None:
    """Change fields of a user for staff; `wanted` has the field names of the API's User.

    `by` is the acting super admin, `session` their session. Raises as `authority.acting` does,
    `UserNotFound`, `CannotModifySelf`, `LastSuperAdmin`, `ValidationFailed` and, if another user
    has the name, address or number, the errors of a sign-up.
    """
    if wanted.get("active") is False and by.user.pk == pk:
        raise errors.CannotModifySelf
    losing = _takes_rights(wanted)
    held = super_admins.keys_to_lock(pk, losing=losing)
    with (
        authority.recorded("admin.user.updated", pk, by=by.user, client=client),
        authority.acting(by, session, *held) as editor,
    ):
        person = super_admins.read_locked(pk, held, losing=losing)
        change_locked(person, wanted, by=editor.user, client=client)


def change_locked(person: Person, wanted: Mapping[str, Any], *, by: Any, client: Client) -> None:
    """The same in a transaction that has locked the user; `by` is the row of the member of
    staff. Raises `Forbidden`, `ValidationFailed` and the errors of taken identifiers."""
    change = _change(person, wanted)
    authority.require_over(by, person, change)
    _require_consistent(person, wanted)
    if change:
        former = notices.address(person)
        _require_free(person.account, change)
        _end_notices(person, change)
        _store(person, change)
        _follow(person, change, by, client)
        notices.send(former, person, _changed_identifiers(change), client)


def apply_change(account: Account, before: Mapping[str, Any], *, by: Any, client: Client) -> None:
    """Store the fields that a form has changed, and no others: the copies of the host's fields may
    be newer in the database. `before` has the former values of the changed fields. Raises
    `LastSuperAdmin`.
    """
    change = {
        name: {"before": value, "after": getattr(account, name)} for name, value in before.items()
    }
    person = Person(account.user, account)
    former = notices.address(person)
    _amend(person, change, set(change), by, client)
    notices.send(former, person, _changed_identifiers(change), client)


def change_in_admin(
    person: Person, before: Person, fields: Collection[str], *, by: Any, client: Client
) -> None:
    """The same if the form also had the host's row, which is stored already. All changes of both
    rows are recorded as one event, and a suspension or a changed address ends all sessions.
    `fields` are the changed fields of the account.
    """
    shown = (*_OF_PERSON, *(name for name in fields if name not in _OF_PERSON))
    pairs = {
        name: {"before": _present(before, name), "after": _present(person, name)} for name in shown
    }
    change = {name: pair for name, pair in pairs.items() if pair["before"] != pair["after"]}
    if change:
        _amend(person, change, set(fields), by, client)
        notices.send(notices.address(before), person, _changed_identifiers(change), client)


def _amend(person: Person, change: Change, fields: set[str], by: Any, client: Client) -> None:
    account, wanted = person.account, {name: change[name]["after"] for name in fields & {*change}}
    with transaction.atomic(using=databases.primary()):
        if _takes_rights(wanted):
            super_admins.lock_user(account.pk, losing=True)
        if "phone_number" in wanted:
            # If staff enter a number again that was proven before, it is unverified.
            fields |= {"phone_key", "verified_phone_key", *_set_by_staff(account)}
            account.verified_phone_key = ""
        _end_notices(person, change)
        _save_account(account, fields)
        _follow(person, change, by, client)


def _takes_rights(wanted: Mapping[str, Any]) -> bool:
    return wanted.get("active") is False or wanted.get("is_super_admin") is False


def _require_consistent(person: Person, wanted: Mapping[str, Any]) -> None:
    if wanted.get("is_super_admin") is False and person.is_superuser:
        rule = phrase("A superuser of the project is always a super admin.")
        raise errors.invalid("is_super_admin", rule)
    for field, proof in _PROOFS.items():
        if wanted.get(proof) and not wanted.get(field, _present(person, field)):
            rule = phrase("There is no %(field)s that could be verified.", field=field)
            raise errors.invalid(proof, rule)
    email = wanted.get("email", "")
    if email and _moves(person.account, "email", email) and not identifiers.is_new_email(email):
        raise errors.invalid("email", identifiers.NEW_EMAIL_RULE)


def _change(person: Person, wanted: Mapping[str, Any]) -> Change:
    unproven = {
        proof: False
        for field, proof in _PROOFS.items()
        if field in wanted and _moves(person.account, field, wanted[field])
    }
    pairs = {
        name: {"before": _present(person, name), "after": value}
        for name, value in {**unproven, **wanted}.items()
    }
    return {name: pair for name, pair in pairs.items() if pair["before"] != pair["after"]}


def _present(person: Person, name: str) -> Any:
    return getattr(person.account if name in _OF_ACCOUNT else person, name)


def _key(field: str, value: str) -> str | None:
    return _KINDS[field].key(value) if value else None


def _moves(account: Account, field: str, value: str) -> bool:
    """Whether the value differs by more than its spelling."""
    return (_key(field, value) or "") != (getattr(account, _KINDS[field].claim) or "")


def _require_free(account: Account, change: Change) -> None:
    after = {field: change[field]["after"] for field in _KINDS if field in change}
    keys = {field: _key(field, to) for field, to in after.items() if _moves(account, field, to)}
    if not keys:
        return
    email, username, phone = (keys.get(field) for field in _KINDS)
    held = lookup.claimed_keys(email=email, username=username, phone=phone, but_of=account.pk)
    if email in held:
        raise errors.UserAlreadyExists
    if username in held:
        raise errors.UsernameAlreadyExists
    if phone in held:
        raise errors.PhoneAlreadyInUse


def _store(person: Person, change: Change) -> None:
    using = databases.primary()
    of_account = _set_on_account(person, change)
    of_user = _set_on_user(person.user, change)
    try:
        with transaction.atomic(using=using), own_save():
            if of_user:
                person.user.save(using=using, update_fields=of_user)
            _save_account(person.account, of_account)
    except IntegrityError:
        # Another user took a key after the check, or a value is unique in the host's table only.
        _require_free(Account(user_id=person.user.pk), change)
        taken = (change.get(name, {}).get("after", "") for name in ("email", "username"))
        creation.require_not_taken(*taken)
        raise


def _set_on_account(person: Person, change: Change) -> set[str]:
    """Set our fields, and our copies and keys of the host's fields; returns the names of those
    set."""
    account, fields = person.account, set()
    proven = {proof: _present(person, proof) for proof in _PROOFS.values()}
    for name in change:
        value = change[name]["after"]
        if name in proven:
            proven[name] = value
        elif not (name == "active" and host().active):
            setattr(account, name, value)
            fields.add(name)
        if name in _KINDS and _moves(account, name, value):
            fields |= _set_key(account, name, value)
            fields |= _set_by_staff(account) if name == "phone_number" else set()
    for field, proof in _PROOFS.items():
        if field in change or proof in change:
            key = _KINDS[field].verified
            text = change[field]["after"] if field in change else _present(person, field)
            setattr(account, key, (_key(field, text) or "") if proven[proof] else "")
            fields.add(key)
    if "email_verified" in change and not (proven["email_verified"] or "email" in change):
        # The mailbox may belong to another person now: a later verification is no proof by them.
        # The time says that it was proven once; an import stores none.
        if account.proven_email_key and account.email_proven_at is None:
            account.email_proven_at = account.created_at
        account.proven_email_key = ""
        fields |= {"proven_email_key", "email_proven_at"}
    if "phone_number_verified" in change:
        verified = change["phone_number_verified"]["after"]
        account.phone_verified_at = timezone.now() if verified else None
        fields.add("phone_verified_at")
    return fields


def _set_by_staff(account: Account) -> set[str]:
    """A number that staff set resets no password until the logged-in user has confirmed it."""
    account.phone_set_by = PhoneSource.STAFF
    account.phone_added_at = timezone.now() if account.phone_number else None
    account.phone_verified_at = None
    return {"phone_set_by", "phone_added_at", "phone_verified_at"}


def _set_key(account: Account, field: str, value: str) -> set[str]:
    kind, key = _KINDS[field], _key(field, value)
    setattr(account, kind.claim, key or "")
    setattr(account, kind.unique, key)  # after the claim: a number has one field for both
    return {kind.claim, kind.unique}


def _set_on_user(user: Any, change: Change) -> list[str]:
    """Set the fields of the host's user model; returns their names."""
    fields = []
    for name, pair in change.items():
        field = getattr(host(), name, "")
        if field:
            creation.set_field(user, field, pair["after"])
            fields.append(field)
    return fields


def _save_account(account: Account, fields: set[str]) -> None:
    account.updated_at = timezone.now()
    account.save(using=databases.primary(), update_fields={*fields, "updated_at"})


def _end_notices(person: Person, change: Change) -> None:
    """Revoke the links of security notices if the address changed: an intruder who reads the former
    mailbox could undo the help of staff. Call it before the account is saved, because of the lock
    order."""
    if "email" in _changed_identifiers(change):
        security_notice.end_all(person)


def _follow(person: Person, change: Change, by: Any, client: Client) -> None:
    reason = _end_reason(change)
    if reason:
        sessions.end_all(person, reason)
    _record(person, change, by, client)


def _changed_identifiers(change: Change) -> set[str]:
    """The identifiers that changed; another spelling of the same one does not count."""
    return {
        name
        for name in _PROOFS
        if name in change and len({_key(name, value) for value in change[name].values()}) > 1
    }


def _end_reason(change: Change) -> str:
    """The reason for which all sessions of the user end, or ""."""
    if "active" in change and not change["active"]["after"]:
        return revocation.REVOKED
    return sessions.MOVED if "email" in _changed_identifiers(change) else ""


def _record(person: Person, change: Change, by: Any, client: Client) -> None:
    events.record_by_staff("admin.user.updated", by, person.user, client, **change)
    if "active" in change:
        flipped = "reactivated" if change["active"]["after"] else "suspended"
        action, active = f"admin.user.{flipped}", change["active"]
        events.record_by_staff(action, by, person.user, client, active=active)
