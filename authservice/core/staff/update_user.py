"""What staff change of somebody, and what follows from it: one road for the API and Django admin.

Who is suspended, or gets another address, is out at once and not back in with the old tokens later.
Rights are never taken from the last super admin.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from authservice.core.messages import security_notice
from authservice.core.models import Account, PhoneSource, Session
from authservice.core.sessions import revocation, sessions
from authservice.core.staff import authority, notices, super_admins
from authservice.core.users import creation, identifiers, lookup
from authservice.core.users.person import Person
from authservice.core.users.signals import own_save
from authservice.core.users.user_model import host
from authservice.kernel import databases, errors, events
from authservice.kernel.client import Client
from authservice.kernel.events import Event

_OF_ACCOUNT = ("name", "avatar", "phone_number", "is_super_admin")
# What differs on a page where staff change the host's row too.
_OF_PERSON = (
    *("email", "username", "first_name", "last_name", "active", "is_superuser"),
    *("email_verified", "phone_number_verified"),
)
_PROOFS = {"email": "email_verified", "phone_number": "phone_number_verified"}
_KEYS: Mapping[str, tuple[Callable[[str], str], str]] = {
    "email": (identifiers.email_key, "email_claim"),
    "username": (identifiers.username_key, "username_claim"),
    "phone_number": (identifiers.phone_key, "phone_key"),
}

# For each field its values `before` and `after`, as the event tells them.
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
    held = super_admins.concerned(pk, losing=losing)
    with (
        authority.recorded("admin.user.updated", pk, by=by.user, client=client),
        authority.acting(by, session, *held) as editor,
    ):
        person = super_admins.present(pk, held, losing=losing)
        change = _change(person, wanted)
        authority.require_over(editor.user, person, change)
        _require_sense(person, wanted)
        if change:
            former = notices.address(person)
            _require_free(person.account, change)
            _end_notices(person, change)
            _store(person, change)
            _follow(person, change, editor.user, client)
            notices.send(former, person, _moved(change), client)


def apply_change(account: Account, before: Mapping[str, Any], *, by: Any, client: Client) -> None:
    """Store what a form has changed of an account, and only that: the copies of the host's row may
    be newer. `before` has the changed fields as they were. Raises `LastSuperAdmin`.
    """
    change = {
        name: {"before": value, "after": getattr(account, name)} for name, value in before.items()
    }
    person = Person(account.user, account)
    former = notices.address(person)
    _amend(person, change, set(change), by, client)
    notices.send(former, person, _moved(change), client)


def change_in_admin(
    person: Person, before: Person, fields: Collection[str], *, by: Any, client: Client
) -> None:
    """The same where the host's row was on the form too, and is stored: what differs is told as
    one, and who was suspended or moved there is out. `fields` are those of the account.
    """
    told = (*_OF_PERSON, *(name for name in fields if name not in _OF_PERSON))
    pairs = {
        name: {"before": _present(before, name), "after": _present(person, name)} for name in told
    }
    change = {name: pair for name, pair in pairs.items() if pair["before"] != pair["after"]}
    if change:
        _amend(person, change, set(fields), by, client)
        notices.send(notices.address(before), person, _moved(change), client)


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


def _require_sense(person: Person, wanted: Mapping[str, Any]) -> None:
    if wanted.get("is_super_admin") is False and person.is_superuser:
        raise errors.invalid("is_super_admin", "A superuser of the project stays one.")
    for field, proof in _PROOFS.items():
        if wanted.get(proof) and not wanted.get(field, _present(person, field)):
            raise errors.invalid(proof, f"There is no {field} that could be verified.")
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
    return _KEYS[field][0](value) if value else None


def _moves(account: Account, field: str, value: str) -> bool:
    """Whether the value is another one, not merely another spelling."""
    return (_key(field, value) or "") != (getattr(account, _KEYS[field][1]) or "")


def _require_free(account: Account, change: Change) -> None:
    keys = {
        field: _key(field, change[field]["after"])
        for field in _KEYS
        if field in change and _moves(account, field, change[field]["after"])
    }
    if not keys:
        return
    email, username, phone = (keys.get(field) for field in _KEYS)
    held = lookup.claimed_keys(email=email, username=username, phone=phone)
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
        # Somebody took a key since it was looked at, or the host's table knows one we do not.
        _require_free(Account(), change)
        creation.require_not_taken(
            *(change.get(n, {}).get("after", "") for n in ("email", "username"))
        )
        raise


def _set_on_account(person: Person, change: Change) -> set[str]:
    """Set our fields, and the copies and keys of the host's; which ones."""
    account, fields = person.account, set()
    proven = {proof: _present(person, proof) for proof in _PROOFS.values()}
    for name in change:
        value = change[name]["after"]
        if name in proven:
            proven[name] = value
        elif not (name == "active" and host().active):
            setattr(account, name, value)
            fields.add(name)
        if name in _KEYS and _moves(account, name, value):
            fields |= _set_key(account, name, value)
            fields |= _set_by_staff(account) if name == "phone_number" else set()
    for field, proof in _PROOFS.items():
        if field in change or proof in change:
            key = f"verified_{field.removesuffix('_number')}_key"
            value = _key(
                field, change[field]["after"] if field in change else _present(person, field)
            )
            setattr(account, key, (value or "") if proven[proof] else "")
            fields.add(key)
    if "phone_number_verified" in change:
        verified = change["phone_number_verified"]["after"]
        account.phone_verified_at = timezone.now() if verified else None
        fields.add("phone_verified_at")
    return fields


def _set_by_staff(account: Account) -> set[str]:
    """A number that staff set resets no password until the signed-in user has confirmed it."""
    account.phone_set_by = PhoneSource.STAFF
    account.phone_added_at = timezone.now() if account.phone_number else None
    account.phone_verified_at = None
    return {"phone_set_by", "phone_added_at", "phone_verified_at"}


def _set_key(account: Account, field: str, value: str) -> set[str]:
    kind, key = field.removesuffix("_number"), _key(field, value)
    setattr(account, f"{kind}_key", key)
    if kind == "phone":
        return {"phone_key"}
    setattr(account, f"{kind}_claim", key or "")
    return {f"{kind}_key", f"{kind}_claim"}


def _set_on_user(user: Any, change: Change) -> list[str]:
    """Set the fields that are the host's; which ones."""
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
    """An intruder who reads the former mailbox could undo what staff have done for the owner. Ended
    before the account is saved, as the lock order demands."""
    if "email" in _moved(change):
        security_notice.end_all(person)


def _follow(person: Person, change: Change, by: Any, client: Client) -> None:
    reason = _why_out(change)
    if reason:
        sessions.end_all(person, reason)
    for event in _events(person, change, by, client):
        events.record(event)


def _moved(change: Change) -> set[str]:
    """The identifiers that changed; another spelling of the same one is no change."""
    return {
        name
        for name in _PROOFS
        if name in change and len({_key(name, value) for value in change[name].values()}) > 1
    }


def _why_out(change: Change) -> str:
    """Why everybody who is signed in as this person is not any longer, or ""."""
    if "active" in change and not change["active"]["after"]:
        return revocation.REVOKED
    return sessions.MOVED if "email" in _moved(change) else ""


def _events(person: Person, change: Change, by: Any, client: Client) -> Iterator[Event]:
    who = {"user": by, "target": person.user, "actor_type": "admin", "client": client}
    yield Event(action="admin.user.updated", metadata=change, **who)
    if "active" in change:
        flipped = "reactivated" if change["active"]["after"] else "suspended"
        metadata = {"active": change["active"]}
        yield Event(action=f"admin.user.{flipped}", metadata=metadata, **who)
