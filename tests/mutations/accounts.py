"""Accounts of users the host already has: their keys, and the commands that see to all of them."""

from __future__ import annotations

from tests.mutations.kinds import CORE, Mutation, to, without

_SYNC = "tests/commands/test_sync_accounts.py"
_CONTESTED = "tests/core/test_contested_identifiers.py"

SYNC = (
    Mutation(
        "A dry run that makes no account",
        CORE + "users/sync.py",
        to("for write in (False,) if dry_run else (False, True):", "for write in (False, True):"),
        (f"{_SYNC}::test_dry_run_writes_nothing",),
    ),
    Mutation(
        "A dry run that takes no key",
        CORE + "users/sync.py",
        to(
            "        if not dry_run:\n            _release",
            "        if True:\n            _release",
        ),
        (_SYNC,),
    ),
    Mutation(
        "A shared address that is given to nobody",
        CORE + "users/sync.py",
        to("            wanted[name] = None", "            pass"),
        (_SYNC,),
    ),
    Mutation(
        "The survey of what several users share",
        CORE + "users/sync.py",
        to("(report.shared if half in report.seen else report.seen)", "report.seen"),
        (_SYNC,),
    ),
    Mutation(
        "The very address that was proven",
        CORE + "users/sync.py",
        to("account.verified_email_key == key", "bool(account.verified_email_key)"),
        (_SYNC,),
    ),
    Mutation(
        "The copies of users who moved",
        CORE + "users/sync.py",
        to("changed.append((account, wanted))", "pass"),
        (f"{_SYNC}::test_moved_user_is_found_by_the_new_address",),
    ),
    Mutation(
        "The release of keys before any is taken",
        CORE + "users/sync.py",
        to("            _release(changed, using)\n", "            pass\n"),
        (_SYNC,),
    ),
    Mutation(
        "The time at which a revoked session began",
        CORE + "sessions/revocation.py",
        to("rows.filter(created_at__lt=before)", "rows.filter(last_used_at__lt=before)"),
        ("tests/commands/test_revoke.py",),
    ),
)

IDENTIFIERS = (
    Mutation(
        "The claim on an address that nobody holds",
        CORE + "users/lookup.py",
        to('Q(email_claim=param("email"', 'Q(email_key=param("email"'),
        (_CONTESTED,),
    ),
    Mutation(
        "The claim on an address that nobody holds, against staff",
        CORE + "users/lookup.py",
        to('Q(email_claim=param("email"', 'Q(email_key=param("email"'),
        ("tests/admin_api/test_contested.py",),
    ),
    Mutation(
        "The key of the holder of an address that another claims",
        CORE + "users/lookup.py",
        to("_drop_contested(account, using, held=held)", "_drop_contested(account, using)"),
        (_CONTESTED,),
    ),
    Mutation(
        "The end of a username that was changed by a query",
        CORE + "users/lookup.py",
        to(
            'known.username and person.username[:254] != person.of_account("username")',
            "False",
        ),
        (_CONTESTED,),
    ),
    Mutation(
        "The username that is free again",
        CORE + "users/lookup.py",
        without(" or (\n        account.username_claim and not account.username_key\n    )"),
        (_CONTESTED,),
    ),
    Mutation(
        "The login of a user whose address is taken while they are adopted",
        CORE + "users/lookup.py",
        to("    if stored is None:\n", "    if False:\n"),
        (_CONTESTED,),
    ),
    Mutation(
        "The login of a user whose new address is taken meanwhile",
        CORE + "users/lookup.py",
        to("    except IntegrityError:\n", "    except ZeroDivisionError:\n"),
        (_CONTESTED,),
    ),
    Mutation(
        "The name of a user whom nobody has adopted yet",
        CORE + "users/availability.py",
        without(" and find(value) is None"),
        (_CONTESTED,),
    ),
    Mutation(
        "The very user whom a backend must accept to change a password",
        CORE + "recovery/recent_proof.py",
        without(" or accepted.user.pk != person.user.pk"),
        ("tests/core/test_backends.py",),
    ),
    Mutation(
        "The devices that are unlocked with a user",
        CORE + "credentials/lockout.py",
        without(
            "    for device in known_devices.ids(person):\n"
            "        yield by_device(uuid.UUID(hex=device))\n"
        ),
        ("tests/core/test_devices.py",),
    ),
    Mutation(
        "The least that a count falls to",
        CORE + "credentials/attempt_counter.py",
        without("        count__gt=0,\n"),
        ("tests/core/test_guess_limits.py",),
    ),
    Mutation(
        "A password that was set and not saved, at a login",
        CORE + "login/last_login.py",
        without(" or user._password is not None"),
        ("tests/core/test_last_login.py",),
    ),
)
