"""Accounts of existing users of the host: their keys, and the commands for all of them."""

from __future__ import annotations

from tests.mutations.kinds import CORE, Mutation, to, without

_SYNC = "tests/commands/test_sync_accounts.py"
_CONTESTED = "tests/core/users/test_contested_identifiers.py"
_SIGNALS = "tests/core/users/test_signals.py"

SYNC = (
    Mutation(
        "The dry run that creates no account",
        CORE + "users/sync.py",
        to("for write in (False,) if dry_run else (False, True):", "for write in (False, True):"),
        (f"{_SYNC}::test_sync_dry_run_writes_nothing",),
    ),
    Mutation(
        "The dry run that assigns no key",
        CORE + "users/sync.py",
        to(
            "        if not dry_run and changed:\n",
            "        if changed:\n",
        ),
        (_SYNC,),
    ),
    Mutation(
        "The shared address that is assigned to no user",
        CORE + "users/sync.py",
        to("            copied[name] = None", "            pass"),
        (_SYNC,),
    ),
    Mutation(
        "The detection of identifiers that several users share",
        CORE + "users/sync.py",
        to("(report.shared if half in report.seen else report.seen)", "report.seen"),
        (_SYNC,),
    ),
    Mutation(
        "The comparison with the address that was verified",
        CORE + "users/sync.py",
        to("account.verified_email_key == key", "bool(account.verified_email_key)"),
        (_SYNC,),
    ),
    Mutation(
        "The update of copies after a changed address",
        CORE + "users/sync.py",
        to("changed.append((account, copied))", "pass"),
        (f"{_SYNC}::test_sync_finds_user_with_changed_address_by_the_new_one",),
    ),
    Mutation(
        "The release of keys before any is assigned",
        CORE + "users/sync.py",
        to(
            "            databases.write_or_split(_release, changed, lambda _: None)\n",
            "            pass\n",
        ),
        (_SYNC,),
    ),
    Mutation(
        "The key that stays while the other key of the account moves",
        CORE + "users/sync.py",
        without(" and copied.get(name, key) != key"),
        (_SYNC,),
    ),
    Mutation(
        "The second comparison, under the lock, before the sync writes",
        CORE + "users/sync.py",
        to("in users.values()]", "in users.values()][:0]"),
        (_SYNC,),
    ),
    Mutation(
        "The start time of the sessions to revoke",
        CORE + "sessions/revocation.py",
        to("rows.filter(created_at__lt=before)", "rows.filter(last_used_at__lt=before)"),
        ("tests/commands/test_revoke.py",),
    ),
)

IDENTIFIERS = (
    Mutation(
        "The refusal of a domain that IDNA cannot encode",
        CORE + "users/identifiers.py",
        to("return domain.isascii() and not domain", "return not domain"),
        (
            "tests/fuzz/test_identifiers.py::"
            "test_accepted_address_is_delivered_to_an_ascii_address_with_the_same_key",
        ),
    ),
    Mutation(
        "The claim on an unassigned address",
        CORE + "users/lookup.py",
        to('Q(email_claim=param("email"', 'Q(email_key=param("email"'),
        (_CONTESTED,),
    ),
    Mutation(
        "The claim on an unassigned address, for a change by staff",
        CORE + "users/lookup.py",
        to('Q(email_claim=param("email"', 'Q(email_key=param("email"'),
        ("tests/admin_api/test_contested.py",),
    ),
    Mutation(
        "The key of the current holder of an address that another user claims",
        CORE + "users/person.py",
        to("_drop_contested(account, own_keys=own_keys)", "_drop_contested(account)"),
        (_CONTESTED,),
    ),
    Mutation(
        "The refusal of a username that was changed by a query",
        CORE + "users/person.py",
        to(
            "names.username and person.username[:254] != person.account_row.username",
            "False",
        ),
        (_CONTESTED,),
    ),
    Mutation(
        "The assignment of a username that is available again",
        CORE + "users/lookup.py",
        without(" or (\n        account.username_claim and not account.username_key\n    )"),
        (_CONTESTED,),
    ),
    Mutation(
        "The login of a user whose address is taken while the account is created",
        CORE + "users/person.py",
        to(
            "stored := Account.objects.filter(user=user.pk).first()",
            "stored := Account.objects.get(user=user.pk)",
        ),
        (_CONTESTED,),
    ),
    Mutation(
        "The login of a user whose new address is taken concurrently",
        CORE + "users/person.py",
        to("suppress(IntegrityError)", "suppress(ZeroDivisionError)"),
        (_CONTESTED,),
    ),
    Mutation(
        "The key that stays if another user takes the other key of the account",
        CORE + "users/person.py",
        to("(email, None), (None, name)", "(None, None)"),
        (_CONTESTED,),
    ),
    Mutation(
        "The user who is saved in another database",
        CORE + "users/lookup.py",
        without("    if using and using != databases.primary():\n        return\n"),
        (_SIGNALS,),
    ),
    Mutation(
        "The address that changes in a parent row of the user",
        CORE + "users/lookup.py",
        without(" and not issubclass(model, sender._meta.concrete_model)"),
        (_SIGNALS,),
    ),
    Mutation(
        "The username of a user without an account, which is not available",
        CORE + "users/lookup.py",
        (
            *without(" and find(value) is None"),
            # Where the natural key is the username, this finds such a user too.
            *to('name = value if kind is identifiers.USERNAME else ""', 'name = ""'),
        ),
        (_CONTESTED,),
    ),
    Mutation(
        "The check that a backend returned the same user, for a password change",
        CORE + "recovery/recent_proof.py",
        without(" or accepted.user.pk != person.user.pk"),
        ("tests/core/credentials/test_authentication_backends.py",),
    ),
    Mutation(
        "The devices that are unlocked with a user",
        CORE + "credentials/lockout.py",
        without(
            "    for device in device_ids(person):\n"
            "        yield _of_logins(by_device(uuid.UUID(hex=device)), budget, _ON_DEVICE)\n"
        ),
        ("tests/core/credentials/test_known_devices.py",),
    ),
    Mutation(
        "The lower limit of a refunded count",
        CORE + "credentials/attempt_counter.py",
        without("        count__gt=0,\n"),
        ("tests/core/credentials/test_lockout.py",),
    ),
    Mutation(
        "The unsaved password of a user, at a login",
        CORE + "login/host_hooks.py",
        without(" or user._password is not None"),
        ("tests/core/login/test_last_login.py",),
    ),
    Mutation(
        "The lock order of a login without Django's receiver",
        CORE + "login/host_hooks.py",
        without("        passwords.lock_users([user.pk])\n"),
        ("tests/core/login/test_last_login.py",),
    ),
)
