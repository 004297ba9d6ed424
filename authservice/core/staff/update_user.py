"""Changes of users by staff and their consequences, the same for the API and Django admin.

If a user is suspended or gets another address, all sessions end at once; their tokens never become
valid again. The last super admin never loses rights.

The mails to the owners of changed accounts have no link to undo the change: staff are responsible
for the change. With such a link, an attacker who had set the former address could undo the help of
staff.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from django.db import IntegrityError, transaction

from authservice.core import errors
from authservice.core.messages import kinds, security_notice
from authservice.core.models import Account, PhoneSource, Session
from authservice.core.recovery import phone_numbers
from authservice.core.sessions import revocation, sessions
from authservice.core.staff import authority, super_admins
from authservice.core.users import creation, host_fields, identifiers, lookup
from authservice.core.users.identifiers import EMAIL, PHONE, USERNAME
from authservice.core.users.person import Person
from authservice.core.users.user_model import grants, host
from authservice.kernel import clock, databases, events, message_queue
from authservice.kernel.client import Client
from authservice.kernel.errors import ValidationFailed, invalid
from authservice.kernel.languages import phrase

# The owner is notified of changes of these fields: they can give access to the account.
_NOTIFIED = ("email", "phone_number", "password")
# Fields whose current value is read from the account; `_present` reads others from `Person`.
_OF_ACCOUNT = ("name", "avatar", "phone_number", "is_super_admin")
# Fields to compare after a page on which staff change the row of the host's user model too.
_OF_PERSON = (
    *("email", "username", "first_name", "last_name", "active", "is_superuser"),
    *("email_verified", "phone_number_verified"),
)
# The field that says whether the address or the number is verified.
_PROOFS = {"email": "email_verified", "phone_number": "phone_number_verified"}
_KINDS = {kind.text: kind for kind in (EMAIL, USERNAME, PHONE)}
# For each field its values `before` and `after`, as the audit event has them.
Change = Mapping[str, Mapping[str, Any]]


def notified_address(person: Person) -> str:
    """The recipient of the notice: the address if its owner proved it, or "". Call it before the
    change."""
    return person.email if person.email_proven else ""


def send_notice(former: str, person: Person, changed: Collection[str], client: Client) -> None:
    """Mail to the `former` address that staff changed these fields. The mail does not use the
    language of staff, and does not show their client."""
    notified = [name for name in _NOTIFIED if name in changed]
    if not notified:
        return
    message_queue.send(
        kinds.CHANGED_BY_STAFF,
        former,
        Client(request_id=client.request_id),
        using=databases.primary(),
        details={"user_id": person.id, "changed": notified, "at": clock.now().isoformat()},
    )


def update(
    pk: Any, new_values: Mapping[str, Any], *, by: Person, session: Session, client: Client
) -> None:
    """Change fields of a user for staff; `new_values` has the field names of the API's User.

    `by` is the acting super admin, `session` their session. Raises the errors of
    `authority.acting`, `UserNotFound`, `CannotModifySelf`, `LastSuperAdmin`, `ValidationFailed`
    and, if another user has the name, address or number, the errors of a sign-up.
    """
    if new_values.get("active") is False and by.user.pk == pk:
        raise errors.CannotModifySelf
    losing = _takes_rights(new_values)
    keys_to_lock = super_admins.keys_to_lock(pk, losing=losing)
    # The users who have the number that staff set or verify are locked too.
    number = new_values.get("phone_number")
    if number is None and new_values.get("phone_number_verified"):
        stored = Account.objects.filter(pk=pk).values_list("phone_number", flat=True)
        number = next(iter(stored), "")
    holders = phone_numbers.users_with(number) if number else []
    with (
        authority.recorded("admin.user.updated", pk, by=by.user, client=client),
        authority.acting(by, session, *keys_to_lock, *holders) as editor,
    ):
        # `keys_to_lock` lacks users who are super admins by a property of the user model only. The
        # acting super admin may be such a user, and remains.
        person = super_admins.read_locked(pk, {*keys_to_lock, by.user.pk}, losing=losing)
        change_locked(person, new_values, by=editor.user, client=client)


@databases.inside_transaction
def change_locked(
    person: Person, new_values: Mapping[str, Any], *, by: Any, client: Client
) -> None:
    """`update` for a caller that holds the lock of the user. If staff set or verify a number, the
    caller also holds the locks of the users who have it. `by` is the row of the member of staff.
    Raises `Forbidden`, `ValidationFailed` and the errors of taken identifiers."""
    change = _change(person, new_values)
    authority.require_over(by, person, change)
    _require_consistent(person, new_values)
    if change:
        former = notified_address(person)
        _require_free(person.account, change)
        _require_verifiable(person, change)
        _end_notices(person, change)
        _store(person, change)
        if _verifies_number(change):
            phone_numbers.take(person, person.phone_key, client)
        _follow(person, change, by, client)
        send_notice(former, person, _changed_contacts(change), client)


def set_super_admin(pk: Any, flag: bool) -> bool:
    """Set the flag of a super admin for an operator in a shell; False if nothing changes.

    Raises `UserNotFound`, `LastSuperAdmin`, and `ValidationFailed` if the flag is taken from a
    superuser of the project.
    """
    with transaction.atomic(using=databases.primary()):
        person = super_admins.lock_user(pk, losing=not flag)
        _require_consistent(person, {"is_super_admin": flag})
        change = _change(person, {"is_super_admin": flag})
        if change:
            _store(person, change)
            _follow(person, change, None, Client())
    return bool(change)


def apply_change(account: Account, before: Mapping[str, Any], *, by: Any, client: Client) -> None:
    """Store the fields that a form has changed, and no others: the copies of the host's fields may
    be newer in the database. `before` has the former values of the changed fields. Raises
    `LastSuperAdmin`.
    """
    change = {
        name: {"before": value, "after": getattr(account, name)} for name, value in before.items()
    }
    person = Person(account.user, account)
    former = notified_address(person)
    _amend(person, change, set(change), by, client)
    send_notice(former, person, _changed_contacts(change), client)


def change_in_admin(
    person: Person, before: Person, fields: Collection[str], *, by: Any, client: Client
) -> None:
    """`apply_change` for a form that also has changed the host's row, which is stored already. All
    changes of both rows are recorded as one event, and a suspension or a changed address ends all
    sessions. `fields` are the changed fields of the account.
    """
    names = (*_OF_PERSON, *(name for name in fields if name not in _OF_PERSON))
    pairs = {
        name: {"before": _present(before, name), "after": _present(person, name)} for name in names
    }
    change = {name: pair for name, pair in pairs.items() if pair["before"] != pair["after"]}
    if change:
        _amend(person, change, set(fields), by, client)
        send_notice(notified_address(before), person, _changed_contacts(change), client)


def _amend(person: Person, change: Change, fields: set[str], by: Any, client: Client) -> None:
    """Store `fields` of the account, which are set already, and what follows from the change."""
    account = person.account
    new_values = {name: change[name]["after"] for name in fields & {*change}}
    with transaction.atomic(using=databases.primary()):
        if _takes_rights(new_values):
            super_admins.lock_user(account.pk, losing=True)
        if "phone_number" in new_values:
            # The number becomes unverified, even if staff enter one that was verified before.
            fields |= {"phone_key", "verified_phone_key", *_set_by_staff(account)}
            account.verified_phone_key = None
        _end_notices(person, change)
        _save_account(account, fields)
        _follow(person, change, by, client)


def _takes_rights(new_values: Mapping[str, Any]) -> bool:
    return new_values.get("active") is False or new_values.get("is_super_admin") is False


def _require_consistent(person: Person, new_values: Mapping[str, Any]) -> None:
    if new_values.get("is_super_admin") is False and person.is_superuser:
        rule = phrase("A superuser of the project is always a super admin.")
        raise invalid("is_super_admin", rule)
    for field, proof in _PROOFS.items():
        if new_values.get(proof) and not new_values.get(field, _present(person, field)):
            rule = phrase("There is no %(field)s that could be verified.", field=field)
            raise invalid(proof, rule)
    if new_values.get("active") and not (host().active or grants(person.user, "is_active")):
        rule = phrase("The user model of the project says that this user is not active.")
        raise invalid("active", rule)
    email = new_values.get("email", "")
    if email and _moves(person.account, "email", email) and not identifiers.is_new_email(email):
        raise invalid("email", identifiers.NEW_EMAIL_RULE)


def _change(person: Person, new_values: Mapping[str, Any]) -> Change:
    """What `new_values` changes. A new address or number is unverified unless `new_values` verifies
    it."""
    unproven = {
        proof: False
        for field, proof in _PROOFS.items()
        if field in new_values and _moves(person.account, field, new_values[field])
    }
    pairs = {
        name: {"before": _present(person, name), "after": value}
        for name, value in {**unproven, **new_values}.items()
    }
    return {name: pair for name, pair in pairs.items() if pair["before"] != pair["after"]}


def _present(person: Person, name: str) -> Any:
    """The current value of a field of a `Change`."""
    of_account = name in _OF_ACCOUNT or (name == "active" and not host().active)
    return getattr(person.account if of_account else person, name)


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
    claimed = lookup.claimed_keys(email=email, username=username, phone=phone, but_of=account.pk)
    if email in claimed:
        raise errors.UserAlreadyExists
    if username in claimed:
        raise errors.UsernameAlreadyExists
    if phone in claimed:
        raise errors.PhoneAlreadyInUse


def _verifies_number(change: Change) -> bool:
    return bool(change.get("phone_number_verified", {}).get("after"))


def _require_verifiable(person: Person, change: Change) -> None:
    """Raises `PhoneAlreadyInUse` if another account has verified the number that staff verify."""
    if _verifies_number(change):
        number = change.get("phone_number", {}).get("after", person.account.phone_number)
        phone_numbers.require_free(person, number)


def _store(person: Person, change: Change) -> None:
    using = databases.primary()
    user = person.user
    fields_of_account = _set_on_account(person, change)
    fields_of_user = []
    names_in_request = {}
    for name, pair in change.items():
        field = getattr(host(), name, "")
        if not field:
            continue
        if field == host().active:
            setattr(user, field, pair["after"])
        else:
            host_fields.set_value(user, field, pair["after"], field=name)
        fields_of_user.append(field)
        names_in_request[field] = name
    try:
        with transaction.atomic(using=using), lookup.own_save():
            if fields_of_user:
                with host_fields.saving(**names_in_request):
                    user.save(using=using, update_fields=fields_of_user)
            _save_account(person.account, fields_of_account)
    except (IntegrityError, errors.Conflict, ValidationFailed):
        # Another user took a key after the check, or a value is unique in the host's table only.
        # Compared with an empty account: that of `person` has the new identifiers already.
        _require_free(Account(user_id=user.pk), change)
        _require_verifiable(person, change)
        new_texts = (change.get(name, {}).get("after", "") for name in ("email", "username"))
        creation.require_not_taken(*new_texts)
        raise


def _set_on_account(person: Person, change: Change) -> set[str]:
    """Set the fields of the account, and its copies and keys of the host's fields; returns the
    names of the fields to store."""
    account = person.account
    fields = set()
    is_verified = {proof: _present(person, proof) for proof in _PROOFS.values()}
    for name in change:
        value = change[name]["after"]
        if name in is_verified:
            is_verified[name] = value
        elif not (name == "active" and host().active):
            setattr(account, name, value)
            fields.add(name)
        # `_moves` compares with the claim, which is still the former one.
        if name in _KINDS and _moves(account, name, value):
            kind, key = _KINDS[name], _key(name, value)
            setattr(account, kind.claim, key or "")
            setattr(account, kind.unique, key)  # after the claim: a number has one field for both
            fields |= {kind.claim, kind.unique}
            fields |= _set_by_staff(account) if name == "phone_number" else set()
    for field, proof in _PROOFS.items():
        if field in change or proof in change:
            verified_key = _KINDS[field].verified
            text = change[field]["after"] if field in change else _present(person, field)
            # None for a number, since the column of verified numbers is unique.
            no_key = None if field == "phone_number" else ""
            value = (_key(field, text) or no_key) if is_verified[proof] else no_key
            setattr(account, verified_key, value)
            fields.add(verified_key)
    if "email_verified" in change and not (is_verified["email_verified"] or "email" in change):
        # The mailbox may belong to another person now: a later verification must not count as a
        # proof by that person. `email_proven_at` stays, to say that the address was proven once; an
        # import has stored no time.
        if account.proven_email_key and account.email_proven_at is None:
            account.email_proven_at = account.created_at
        account.proven_email_key = ""
        fields |= {"proven_email_key", "email_proven_at"}
    if "phone_number_verified" in change:
        verified = change["phone_number_verified"]["after"]
        account.phone_verified_at = clock.now() if verified else None
        fields.add("phone_verified_at")
    return fields


def _set_by_staff(account: Account) -> set[str]:
    """Mark the number as set by staff; returns the names of the fields. Such a number resets no
    password until the logged-in user has confirmed it."""
    account.phone_set_by = PhoneSource.STAFF
    account.phone_added_at = clock.now() if account.phone_number else None
    account.phone_verified_at = None
    return {"phone_set_by", "phone_added_at", "phone_verified_at"}


def _save_account(account: Account, fields: set[str]) -> None:
    account.updated_at = clock.now()
    account.save(using=databases.primary(), update_fields={*fields, "updated_at"})


def _end_notices(person: Person, change: Change) -> None:
    """Revoke the links of security notices if the address changed: an intruder who reads the former
    mailbox could undo the help of staff. Call it before the account is saved, because of the lock
    order."""
    if "email" in _changed_contacts(change):
        security_notice.end_all(person)


def _follow(person: Person, change: Change, by: Any, client: Client) -> None:
    """End all sessions of a user who was suspended or has another address, and record the
    change."""
    active = change.get("active")
    if active and not active["after"]:
        sessions.end_all(person, revocation.REVOKED)
    elif "email" in _changed_contacts(change):
        sessions.end_all(person, sessions.MOVED)
    events.record_by_staff("admin.user.updated", by, person.user, client, **change)
    if active:
        new_state = "reactivated" if active["after"] else "suspended"
        action = f"admin.user.{new_state}"
        events.record_by_staff(action, by, person.user, client, active=active)


def _changed_contacts(change: Change) -> set[str]:
    """Which of address and number changed; another spelling of the same one does not count."""
    return {
        name
        for name in _PROOFS
        if name in change and len({_key(name, value) for value in change[name].values()}) > 1
    }
