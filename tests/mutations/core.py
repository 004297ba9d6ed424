"""Sign-ins and their tokens, the door, what a right is."""

from __future__ import annotations

from tests.mutations.kinds import CORE, HTTP, Mutation, to, without

_INTERLEAVED = "tests/core/test_refresh_interleaved.py"
_REFRESH = "tests/core/test_refresh.py"
_TOKENS = "tests/core/test_access_tokens.py"

SIGN_INS = (
    Mutation(
        "One successor of a refresh token",
        CORE + "sessions/rotation.py",
        without('        counter=param("counter", Session),\n'),
        (_INTERLEAVED,),
    ),
    Mutation(
        "A logout that wins over a refresh",
        CORE + "sessions/rotation.py",
        without("        ended_at=None,\n"),
        (_INTERLEAVED,),
    ),
    Mutation(
        "The end of a stolen family",
        CORE + "sessions/rotation.py",
        without("    _end_session(person, session, client)\n"),
        (_REFRESH,),
    ),
    Mutation(
        "The proof that a refresh token is ours",
        CORE + "tokens/refresh.py",
        to("any(hmac.compare_digest(made, self.mac) for made", "any(made for made"),
        ("tests/core/test_refresh_forgery.py",),
    ),
    Mutation(
        "The seed of the row in a refresh token",
        CORE + "tokens/refresh.py",
        without(" + bytes.fromhex(seed)"),
        ("tests/core/test_refresh_forgery.py",),
    ),
    Mutation(
        "The end of every session by a changed password",
        CORE + "sessions/sessions.py",
        without(
            "\n        and passwords.matches_fingerprint("
            "session.password_fingerprint, person.password)"
        ),
        ("tests/core/test_standing.py",),
    ),
    Mutation(
        "The end of every session of an inactive user",
        CORE + "sessions/sessions.py",
        without("\n        and person.active"),
        ("tests/core/test_standing.py",),
    ),
    Mutation(
        "The end of every session by a raised token version",
        CORE + "sessions/sessions.py",
        without("\n        and session.token_version == person.token_version"),
        ("tests/core/test_standing.py",),
    ),
)

DOOR = (
    Mutation(
        "The gates before the tokens",
        CORE + "login/login.py",
        to("challenges = _challenges(arrival)", "challenges = ()"),
        ("tests/kernel/test_slots.py",),
    ),
    Mutation(
        "The refusal of an inactive user",
        CORE + "login/login.py",
        to("if not person.active:", "if False:"),
        ("tests/contract/test_login.py",),
    ),
    Mutation(
        "The count of an attempt before the check",
        CORE + "credentials/lockout.py",
        without(
            "    attempt_counter.consume(guess.key, attempt_counter.PASSWORD, report=report)\n"
            "    return guess\n"
        ),
        ("tests/core/test_guess_limits.py",),
    ),
    Mutation(
        "The dummy hash for an unknown user",
        CORE + "credentials/passwords.py",
        to("        _dummy_hash(password)\n        return False\n", "        return False\n"),
        ("tests/core/test_one_hash.py",),
    ),
    Mutation(
        "The account that a device token is for",
        CORE + "credentials/known_devices.py",
        (
            *without(" or found.user != person.id"),
            # The account names its devices as well, and would hide the loss.
            *without(" and found.device.hex in ids(person)"),
        ),
        ("tests/core/test_devices.py",),
    ),
    Mutation(
        "The end of a budget of attempts",
        CORE + "credentials/attempt_sql.py",
        to('_OPEN = f"""( TABLE.[ends_at] <= :now OR NOT ( {_SPENT} ) )', '_OPEN = f"""( 1 = 1 )'),
        ("tests/core/test_guess_limits.py",),
    ),
    Mutation(
        "The count of an attempt that commits before the check, under ATOMIC_REQUESTS",
        HTTP + "views.py",
        to("view = transaction.non_atomic_requests(using=alias)(view)", "pass"),
        ("tests/contract/test_transactions.py",),
    ),
)

TOKENS = (
    Mutation(
        "The version in an access token",
        CORE + "sessions/authentication.py",
        to('self.claims["ver"] == person.token_version\n            and ', ""),
        (_TOKENS,),
    ),
    Mutation(
        "The user that a session belongs to",
        CORE + "sessions/authentication.py",
        without(' or found[0].id != self.claims["sub"]'),
        (_TOKENS,),
    ),
    Mutation(
        "The type of an access token",
        CORE + "tokens/access.py",
        to('if claims["typ"] != TYPE:', "if False:"),
        (_TOKENS,),
    ),
    Mutation(
        "The issuer and audience of an access token",
        CORE + "tokens/signing_keys.py",
        to(
            'if claims["iss"] != self.issuer or claims["aud"] != self.audience:',
            "if False:",
        ),
        (_TOKENS,),
    ),
    Mutation(
        "The end of an access token",
        CORE + "tokens/signing_keys.py",
        to('if claims["exp"] <= time.time():', "if False:"),
        (_TOKENS,),
    ),
    Mutation(
        "The one algorithm of a key",
        CORE + "tokens/signing_keys.py",
        without("                or key.alg != alg\n"),
        (_TOKENS,),
    ),
    Mutation(
        "The signature of an access token",
        CORE + "tokens/signing_keys.py",
        without(
            '                or not key.verifies(signed.encode("ascii"), crypto.unb64(signature))\n'
        ),
        (_TOKENS,),
    ),
    Mutation(
        "The few members of a token's header",
        CORE + "tokens/signing_keys.py",
        to("set(parsed) != _HEADER", "not set(parsed) >= _HEADER"),
        (_TOKENS,),
    ),
)

RIGHTS = (
    Mutation(
        "The guard of the routes of super admins",
        HTTP + "views.py",
        to("if self.super_admin:", "if False:"),
        ("tests/admin_api/test_access.py",),
    ),
    Mutation(
        "The last super admin",
        CORE + "staff/super_admins.py",
        to(
            "if losing and is_active_super_admin(found)",
            "if False and is_active_super_admin(found)",
        ),
        ("tests/admin_api/test_rights.py",),
    ),
    Mutation(
        "The sight of super admins who were made by the project",
        CORE + "staff/super_admins.py",
        to("if host().superuser:", "if False:"),
        ("tests/admin_api/test_rights.py",),
    ),
)

_SUPER_ADMINS = "tests/races/test_super_admins.py"
_AT_ONCE = f"{_SUPER_ADMINS}::test_two_who_do_it_to_each_other_leave_one[demote]"
_THEMSELVES = f"{_SUPER_ADMINS}::test_two_who_demote_themselves_leave_one"
_SELECTED = (
    "tests/admin/inside/test_last_super_admin.py",
    *("--ds=tests.admin.settings", "-mslow", "-kselected"),
)

# Two who look before either acts: to be seen only where several write at once.
RACES = (
    Mutation(
        "The rows of the super admins, held until one of them has lost their rights",
        CORE + "credentials/passwords.py",
        without(".select_for_update(no_key=no_key)"),
        (_AT_ONCE,),
        database="postgres",
    ),
    Mutation(
        "The others, held beside the one who loses their rights",
        CORE + "staff/super_admins.py",
        (
            *to(
                "{pk, *_all()} if losing and person and is_active_super_admin(person) else {pk}",
                "{pk}",
            ),
            *to("not _reigning(held - {pk})", "not _reigning({*_all()} - {pk})"),
        ),
        (_THEMSELVES,),
        database="postgres",
    ),
    Mutation(
        "The look at the super admins once they are held",
        CORE + "staff/super_admins.py",
        to("not _reigning(held - {pk})", "not held - {pk}"),
        (_THEMSELVES,),
        database="postgres",
    ),
    Mutation(
        # Any order may come of none, though a small table shows each time the same.
        "The one order in which super admins are held",
        CORE + "credentials/passwords.py",
        to('filter(pk__in=pks).order_by("pk")', 'filter(pk__in=pks).order_by("?")'),
        (_AT_ONCE,),
        database="postgres",
    ),
    Mutation(
        "The super admins, held while a page of Django admin deletes one",
        CORE + "staff/super_admins.py",
        to("held = _lock({pk, *among})", "held = {pk, *among}"),
        _SELECTED,
        database="postgres",
    ),
    Mutation(
        "The wait of who refers to a user being deleted",
        CORE + "staff/delete_user.py",
        without("    super_admins.shut(person.user.pk)\n"),
        ("tests/races/test_deletion.py",),
        database="postgres",
    ),
    Mutation(
        "The caller, read anew after a deadlock",
        HTTP + "views.py",
        to("action != self._allow:", "action != self._allow and not self.identity:"),
        ("tests/races/test_deadlocks.py",),
        database="postgres",
    ),
    Mutation(
        "The one order in which a login and a reset lock what both change",
        "authservice/kernel/sql.py",
        to("list(reversed(before))", "list(before)"),
        ("tests/kernel/test_sql.py", "tests/races/test_passwords.py"),
        database="postgres",
    ),
)
