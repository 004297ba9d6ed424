"""The counters that limit attempts at passwords and codes, what resets them, and the known devices
of a user, which have attempts of their own.

The known devices are the newest ones on which the user logged in.

A device token gives no access. It gives its client a separate limit, so that attackers who use up
the limit of an identifier cannot lock its owner out (the device cookie of OWASP's guide on slowing
down online guessing attacks). The account stores the ids of its newest devices and a version that
rises with each password change: an attacker cannot collect tokens for later, and a changed password
revokes all of them.

A mailed or texted code has six digits, and a client can request many codes, so a limit per code
alone would not stop guessing. Attempts are counted per address or number, known or not. For codes
that log in or reset a password, all unknown clients together have ten attempts a day for each
target, and each known device of the account has ten; after that only links work. One code that logs
in or resets a password allows five attempts to unknown clients and five to each known device. A
code that verifies a number gives no access to an account, so no device needs attempts of its own:
it allows five in all. The same row is written whether a code exists or not, so neither response
time nor statements reveal whether there is an account.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import Error, connections
from django.db.models import F
from django.db.models.functions import Concat, Right

from authservice.core.credentials import attempt_counter, passwords
from authservice.core.credentials.attempt_counter import DAY, Budget, Counter
from authservice.core.errors import Conflict
from authservice.core.models import DEVICES, Account
from authservice.core.users import identifiers
from authservice.core.users.person import Person
from authservice.kernel import databases, errors, throttling
from authservice.kernel.client import Client, DeviceToken
from authservice.kernel.languages import admin_text as _
from authservice.kernel.secret import Secret
from authservice.kernel.sql import Bound, Update, param

DEVICE_TTL = DeviceToken.TTL
_DEVICE_ID = 32  # hex characters of an id

# One statement, so that each of several parallel logins adds its own device. If a second factor was
# enabled after the login read the account, its session is not valid, and its device must not get
# attempts of its own at codes.
_ADD_DEVICE = Update(
    lambda: Account.objects.filter(
        user=param("user", Account), factor_version=param("factor_version", Account)
    ),
    lambda: {
        "device_ids": Right(
            Concat("device_ids", param("device_ids", Account)), DEVICES * _DEVICE_ID
        )
    },
)


def device_token(person: Person, device: uuid.UUID) -> Secret:
    return DeviceToken.issue(device, version=person.device_version, user=person.id)


def find_device(
    token: DeviceToken | None, person: Person | None, *, since: datetime | None = None
) -> uuid.UUID | None:
    """The device of a token if it is a known one of this account, and the token was not issued
    before `since` (compared in whole seconds)."""
    if token is None or person is None or not _is_current(token, person):
        return None
    is_older = since is not None and token.issued_at < int(since.timestamp())
    return None if is_older else token.device


def device_ids(person: Person) -> list[str]:
    """Ids of the known devices of the user, the oldest first."""
    joined: str = person.account_row.device_ids
    return [joined[start : start + _DEVICE_ID] for start in range(0, len(joined), _DEVICE_ID)]


def first_device(person: Person) -> uuid.UUID | None:
    """The oldest known device: right after the sign-up, the one that it stored."""
    ids = device_ids(person)
    return uuid.UUID(hex=ids[0]) if ids else None


def device_addition(person: Person, device: uuid.UUID) -> Bound:
    """The statement that adds a device of the user as the newest."""
    joined: str = person.account_row.device_ids
    person.account.device_ids = (joined + device.hex)[-DEVICES * _DEVICE_ID :]
    return _ADD_DEVICE.bound(
        databases.primary(),
        user=person.user.pk,
        factor_version=person.factor_version,
        device_ids=device.hex,
    )


def revoke_devices(person: Person) -> None:
    """Revoke all device tokens of the user."""
    _renew_devices(person, [])


def revoke_other_devices(person: Person, client: Client) -> Secret:
    """Revoke all device tokens of the user; returns a new one for the client, "" if its device is
    not known."""
    token = client.device
    if token is None or not _is_current(token, person):
        _renew_devices(person, [])
        return Secret("")
    _renew_devices(person, [token.device.hex])
    return replace(token, version=person.device_version).signed()


def replace_devices(person: Person, client: Client) -> Secret:
    """Revoke all device tokens of the user; returns a new one for the client, which has proven to
    be the user, also if its device is not known."""
    if find_device(client.device, person) is not None:
        return revoke_other_devices(person, client)
    device = uuid.uuid4()
    _renew_devices(person, [device.hex])
    return device_token(person, device)


def _renew_devices(person: Person, device_ids: list[str]) -> None:
    """Revoke all device tokens by a new version, and forget all devices but `device_ids`."""
    person.account.device_ids = "".join(device_ids)
    rows = Account.objects.filter(pk=person.user.pk)
    rows.update(device_version=F("device_version") + 1, device_ids=person.account.device_ids)
    person.account.device_version += 1


def _is_current(token: DeviceToken, person: Person) -> bool:
    """Whether the device token belongs to this user and was not revoked."""
    # The version and not the hash: a better hash of the same password must not revoke the token.
    return (
        token.user == person.id
        and token.version == person.device_version
        and token.device.hex in device_ids(person)
    )


CODE_TRIES = 5
# A window opens with the first attempt at a code and is longer than any code is valid.
_OPENING = Budget.fixed(limit=CODE_TRIES, window=DAY, daily=10)
_VERIFYING = Budget.fixed(limit=CODE_TRIES, window=DAY)
_CODE, _CODE_ON_DEVICE = "code", "code-device"
_GUESS = "guess"  # the scope of the limit of a network
_PASSWORDS = _("wrong passwords")
_ON_DEVICE = _("wrong passwords on a known device")
# Errors that say nothing about the password: `refund_unless_checked` gives the attempt back.
_OTHER_REASONS = (
    Conflict,
    errors.ServiceUnavailable,
    errors.ValidationFailed,
    Error,  # of the database
)


@dataclass(frozen=True)
class CountedAttempt:
    """An attempt that was counted by the counter `key`. On a known device it was also counted by
    `second_key`, on an unknown one for the `network` of the client."""

    key: str
    second_key: str = ""
    network: str | None = None

    def refund(self) -> None:
        """Give the attempt back: the password was right."""
        attempt_counter.refund(self.key, self.second_key)

    def refund_statement(self) -> Bound:
        """The statement of `refund`, which can be executed together with another one."""
        return attempt_counter.refund_statement(self.key, self.second_key)

    def refund_throttle(self) -> None:
        if self.network is not None:
            throttling.refund(_GUESS, self.network)


@contextmanager
def turn(
    identifier_key: str, person: Person | None, client: Client, *, report: Callable[[], None]
) -> Iterator[CountedAttempt]:
    """Count one password attempt for an identifier, known or not, when it is its turn (see
    `passwords.hash_turn`). In this block the caller checks the password and gives the attempt back
    if it was right.

    A known device of the account has its own limit and its own turn, shares a second limit with all
    known devices of the account, and is exempt from the limit of its network. So other clients,
    even behind the same address, can neither lock the owner out nor delay them. Raises
    `TooManyRequests`, `TooManyAttempts` or `ServiceUnavailable`; `report` is called once each time
    that the limit is reached.
    """
    device = find_device(client.device, person)
    if device is None or person is None:
        attempt = CountedAttempt(by_identifier(identifier_key), network=client.network)
    else:
        attempt = CountedAttempt(by_device(device), by_all_devices(person))
    with passwords.hash_turn(attempt.key):
        if attempt.network is not None:
            throttling.count(_GUESS, attempt.network)
        attempt_counter.consume(attempt.key, attempt_counter.PASSWORD, report=report)
        if attempt.second_key:
            try:
                attempt_counter.consume(
                    attempt.second_key, attempt_counter.ALL_DEVICES, report=report
                )
            except errors.TooManyAttempts:
                attempt_counter.refund(attempt.key)
                raise
        yield attempt


def count_network(person: Person | None, client: Client) -> str | None:
    """Count an attempt for the network of the client, unless it is a known device of the user;
    returns the network, for `refund_throttle`. Raises `TooManyRequests`."""
    if find_device(client.device, person) is not None:
        return None
    throttling.count(_GUESS, client.network)
    return client.network


def refund_throttle(network: str | None) -> None:
    if network is not None:
        throttling.refund(_GUESS, network)


def by_identifier(identifier_key: str) -> str:
    """The key of the counter of password attempts for an identifier, known or not."""
    return attempt_counter.key("password", identifier_key)


def by_device(device: uuid.UUID) -> str:
    """The key of the counter of password attempts on one known device."""
    return attempt_counter.key("device", device.hex)


def by_all_devices(person: Person) -> str:
    """The key of the counter of password attempts on all known devices of an account together."""
    return attempt_counter.key("devices", person.id)


def by_password_change(person: Person) -> str:
    """The key of the counter of attempts at the current password in a session of the user."""
    return attempt_counter.key("change-password", person.id)


def by_code(target_key: str, device: uuid.UUID | None, *, opens_account: bool) -> str:
    """The key of the counter of an attempt at a code: that of the device, if it is known and the
    code opens an account, otherwise that of the target."""
    if not opens_account:
        return attempt_counter.key("verify-code", target_key)
    if device is not None:
        return attempt_counter.key(_CODE_ON_DEVICE, device.hex)
    return attempt_counter.key(_CODE, target_key)


def own_target(target_key: str, owner: Person | None) -> str:
    """The target of a code that only verifies a number, which several accounts may have. A client
    that is signed in tries the code of its own account, `owner`. Without an owner, the code of any
    of these accounts is tried, and they share the attempts."""
    return f"{target_key}|{owner.id if owner else ''}"


def count_code(key: str, *, opens_account: bool) -> bool:
    """Count one attempt at a code; False if none is left, and then nothing was counted."""
    return attempt_counter.try_consume(key, _OPENING if opens_account else _VERIFYING)


def restart_codes(person: Person, target_key: str, *, opens_account: bool) -> None:
    """Allow five attempts at a new code, within the daily limit: in every counter that an attempt
    at it may use."""
    if opens_account:
        devices = [None, *(uuid.UUID(hex=device) for device in device_ids(person))]
        keys = {by_code(target_key, device, opens_account=True) for device in devices}
    else:
        subjects = (own_target(target_key, person), own_target(target_key, None))
        keys = {by_code(subject, None, opens_account=False) for subject in subjects}
    attempt_counter.restart_windows(keys)


@contextmanager
def refund_unless_checked(refund: Callable[[], None]) -> Iterator[None]:
    """Give back a counted attempt if it failed for another reason than the password.

    A database or cache that is down for a while, transactions that the database aborts to resolve
    deadlocks, or a table of the project that refuses a row must not add up to a lockout. This must
    wrap the transaction: in an aborted transaction the attempt cannot be given back.
    """
    try:
        yield
    except _OTHER_REASONS:
        if not connections[databases.primary()].in_atomic_block:
            refund()
        raise


def unlock(people: Iterable[Person]) -> None:
    """Unlock these users: delete the counters of attempts at their accounts, on all devices."""
    attempt_counter.reset([counter.key for person in people for counter in counters(person)])


def counters(person: Person) -> Iterator[Counter]:
    """Every counter of attempts at the account, on all devices, but for those of codes that only
    verify a number: they give no access, and the next code restarts them.

    The counter of an identifier belongs to the user whom a login with it finds: the one in whose
    account the key is stored (`person.account_row`). Another user may have the same address: staff
    who may unlock only that other one must not reset the attempts at the account that the login
    finds.
    """
    budget = attempt_counter.PASSWORD
    if person.email and person.account_row.email_key == person.email_key:
        yield _of_logins(by_identifier(person.email_key), budget)
    username_key = identifiers.username_key(person.username)
    if person.username and person.account_row.username_key == username_key:
        yield _of_logins(by_identifier(username_key), budget)
    attempts = _("wrong current passwords in changes of the password")
    action = "auth.password.change_failed"
    yield Counter(by_password_change(person), budget, attempts, action, blocks=False)
    for key in filter(None, (person.email_key, person.phone_key)):
        yield _of_codes(_CODE, key)
    for device in device_ids(person):
        yield _of_codes(_CODE_ON_DEVICE, device)
    yield _of_logins(by_all_devices(person), attempt_counter.ALL_DEVICES, _ON_DEVICE)
    for device in device_ids(person):
        yield _of_logins(by_device(uuid.UUID(hex=device)), budget, _ON_DEVICE)


def _of_logins(key: str, budget: Budget, attempts: Any = _PASSWORDS) -> Counter:
    return Counter(key, budget, attempts, "auth.login.failed")


def _of_codes(scope: str, subject: str) -> Counter:
    key = attempt_counter.key(scope, subject)
    return Counter(key, _OPENING, _("wrong codes"), blocks=False)
