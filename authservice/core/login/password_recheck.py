"""At a login, check the right password again: it may have been breached since it was chosen.

Only the owner of the account learns the result: by a notice, or by a refusal after everything else
about the login was right. The server of breached passwords is asked at most once in 30 days for
each password; if it is away, the next login asks. The other rules are checked at each login, which
costs no query for a password that keeps them.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from django.contrib.auth import load_backend
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.password_validation import get_default_password_validators
from django.db import transaction

from authservice.core import errors
from authservice.core.conf import core
from authservice.core.credentials import passwords, recovery_number
from authservice.core.credentials.password_rules import RecheckedValidator
from authservice.core.messages import kinds
from authservice.core.models import PasswordCheck
from authservice.core.recovery import password_reset
from authservice.core.users.person import Person
from authservice.kernel import clock, databases, events, message_queue
from authservice.kernel.client import Client
from authservice.kernel.secret import Secret

_SAFE_FOR = timedelta(days=30)
# The owner is reminded once a year.
_NOTIFIED_FOR = timedelta(days=365)


def require_safe(person: Person, password: Secret, client: Client, *, method: str) -> None:
    """Check a password that was right, of a user who may log in, outside of every transaction.

    With `CORE.PASSWORD_RECHECK = "change"`, raises `PasswordChangeRequired` if the user can get a
    link or code to choose another one; otherwise an unsafe password is only reported.
    """
    mode = core.password_recheck
    if mode == "off":
        return
    validators: list[RecheckedValidator] = [
        validator
        for validator in get_default_password_validators()
        if isinstance(validator, RecheckedValidator)
    ]
    local = [validator for validator in validators if not validator.asks_server]
    remote = [validator for validator in validators if validator.asks_server]
    # A password of another system, such as LDAP, can be neither marked nor changed here.
    if not (local or remote) or not isinstance(load_backend(person.user.backend), ModelBackend):
        return
    rule = _broken_rule(local, password, person)
    if not rule and not remote:
        return
    results = _earlier_results(person)
    if not rule:
        # A password that was found breached stays so, also while the server is away.
        broken_rules = results & {validator.rule for validator in remote}
        # An earlier result is still valid: the password was safe, or its owner was notified.
        if "" in results or (broken_rules and mode == "notice"):
            return
        rule = next(iter(broken_rules), None) or _broken_rule(remote, password, person)
        if rule == "":
            _store(person, rule, _SAFE_FOR)
        if not rule:
            return
    # A rule of an earlier result was reported when it was stored.
    if rule not in results:
        _report(person, rule, client, notify=mode == "notice")
    if mode == "change" and _send_recovery(person, client):
        reason = errors.PasswordChangeRequired.code.lower()
        events.record("auth.login.failed", person, client, reason=reason, method=method)
        raise errors.PasswordChangeRequired


def _broken_rule(
    validators: Iterable[RecheckedValidator], password: Secret, person: Person
) -> str | None:
    """The first rule that the password breaks, "" if it breaks none, None if that is not known."""
    rule: str | None = ""
    for validator in validators:
        broken = validator.is_broken(password.reveal(), person.user)
        if broken:
            return validator.rule
        if broken is None:
            rule = None
    return rule


def _earlier_results(person: Person) -> set[str]:
    """The results of this password that are still valid."""
    # The fingerprint of a row follows a better hash of the password, and fits no other password.
    rows = PasswordCheck.objects.filter(
        user=person.user.pk,
        password_fingerprint__in=passwords.fingerprints(person.user.password),
        expires_at__gt=clock.now(),
    )
    return set(rows.values_list("rule", flat=True))


def _store(person: Person, rule: str, valid_for: timedelta) -> None:
    PasswordCheck.objects.create(
        user_id=person.user.pk,
        password_fingerprint=passwords.fingerprint(person.user.password),
        rule=rule,
        expires_at=clock.now() + valid_for,
    )


def _report(person: Person, rule: str, client: Client, *, notify: bool) -> None:
    """Record the unsafe password, and notify its owner: once, also at concurrent logins."""
    using = databases.primary()
    with transaction.atomic(using=using):
        if not passwords.lock_users([person.user.pk]) or rule in _earlier_results(person):
            return
        _store(person, rule, _NOTIFIED_FOR)
        events.record("auth.password.unsafe", person, client, rule=rule)
        # An address that was not proven may be that of another person.
        if notify and person.email_proven:
            message_queue.send(kinds.PASSWORD_UNSAFE, person.email, client, using=using)


def _send_recovery(person: Person, client: Client) -> bool:
    """Send what resets the password; False if nothing can reach this user, who must not be locked
    out then. Beyond the limit of messages nothing is sent, as at `POST /forgot-password`."""
    if message_queue.can_mail() and person.account.email_key:
        password_reset.request_by_email(person.email, client)
        return True
    if message_queue.can_sms() and recovery_number.may_reset_password(person):
        password_reset.request_by_phone(person.account.phone_number, client)
        return True
    return False
