"""Logins, sessions and their tokens, and rights."""

from __future__ import annotations

from tests.mutations.kinds import CORE, Mutation, to, without

_INTERLEAVED = "tests/core/sessions/test_rotation_interleaved.py"
_REFRESH = "tests/core/sessions/test_rotation.py"
_TOKENS = "tests/core/tokens/test_access_tokens.py"

LOGINS = (
    Mutation(
        "One successor of a refresh token",
        CORE + "sessions/rotation.py",
        without('        counter=param("counter", Session),\n'),
        (_INTERLEAVED,),
    ),
    Mutation(
        "The refusal of a refresh after a concurrent logout",
        CORE + "sessions/rotation.py",
        without("        ended_at=None,\n"),
        (_INTERLEAVED,),
    ),
    Mutation(
        "The revocation of a session whose refresh token was reused",
        CORE + "sessions/rotation.py",
        to("if sessions.end(session.pk, sessions.REUSE):", "if False:"),
        (_REFRESH,),
    ),
    Mutation(
        "The signature of a refresh token",
        CORE + "tokens/signing.py",
        to("any(hmac.compare_digest(made, self.mac) for made", "any(made for made"),
        ("tests/core/tokens/test_refresh_forgery.py",),
    ),
    Mutation(
        "The seed of the row in a refresh token",
        CORE + "tokens/signing.py",
        without(" + bytes.fromhex(seed)"),
        ("tests/core/tokens/test_refresh_forgery.py",),
    ),
    Mutation(
        "The end of every session by a changed password",
        CORE + "sessions/sessions.py",
        without(
            "\n        and passwords.matches_fingerprint("
            "session.password_fingerprint, person.password)"
        ),
        ("tests/core/sessions/test_revocation.py",),
    ),
    Mutation(
        "The end of every session of an inactive user",
        CORE + "sessions/sessions.py",
        without("\n        and person.active"),
        ("tests/core/sessions/test_revocation.py",),
    ),
    Mutation(
        "The end of every session by a raised token version",
        CORE + "sessions/sessions.py",
        without("\n        and session.token_version == person.token_version"),
        ("tests/core/sessions/test_revocation.py",),
    ),
)

SESSION_START = (
    Mutation(
        "The gates before the tokens",
        CORE + "login/login.py",
        to("tuple(challenge for challenge in asked_for if challenge is not None)", "()"),
        ("tests/kernel/test_slots.py",),
    ),
    Mutation(
        "The turn of an attempt, before it is counted",
        CORE + "credentials/lockout.py",
        to("passwords.hash_turn(attempt.key)", "passwords.hash_turn(str(uuid.uuid4()))"),
        ("tests/races/test_attempts.py::test_parallel_correct_passwords_use_no_attempts",),
        database="postgres",
    ),
    Mutation(
        "The one reading of the clock in a request",
        CORE + "api/endpoint.py",
        without("clock.unit(), "),
        ("tests/core/login_matrix/test_new_device_notice.py",),
    ),
    Mutation(
        "The refusal of an inactive user",
        CORE + "login/login.py",
        to("if not person.active:", "if False:"),
        ("tests/contract/test_login.py",),
    ),
    Mutation(
        "The count of an attempt, before the password is checked",
        CORE + "credentials/lockout.py",
        without(
            "        attempt_counter.consume("
            "attempt.key, attempt_counter.PASSWORD, report=report)\n"
        ),
        ("tests/core/credentials/test_lockout.py",),
    ),
    Mutation(
        "The dummy hash for an unknown user",
        CORE + "credentials/passwords.py",
        to("        _dummy_hash(password)\n        return False\n", "        return False\n"),
        ("tests/core/login/test_one_hash.py",),
    ),
    Mutation(
        "The account that a device token belongs to",
        CORE + "credentials/lockout.py",
        (
            *to("token.user == person.id", "True"),
            # The account lists its devices as well, which would hide the loss.
            *without("        and token.device.hex in device_ids(person)\n"),
        ),
        ("tests/core/credentials/test_known_devices.py",),
    ),
    Mutation(
        "The limit of a budget of attempts",
        CORE + "credentials/attempt_counter.py",
        to('_OPEN = f"""( TABLE.[ends_at] <= :now OR NOT ( {_SPENT} ) )', '_OPEN = f"""( 1 = 1 )'),
        ("tests/core/credentials/test_lockout.py",),
    ),
    Mutation(
        "The commit of a counted attempt before the check, with ATOMIC_REQUESTS",
        CORE + "api/endpoint.py",
        to("view = transaction.non_atomic_requests(using=alias)(view)", "pass"),
        ("tests/contract/test_transactions.py",),
    ),
)

TOKENS = (
    Mutation(
        "The token version in an access token",
        CORE + "sessions/bearer.py",
        to('self.claims["ver"] == person.token_version\n                and ', ""),
        (_TOKENS,),
    ),
    Mutation(
        "The user that a session belongs to",
        CORE + "sessions/bearer.py",
        without(' or person_and_session[0].id != self.claims["sub"]'),
        (_TOKENS,),
    ),
    Mutation(
        "The type of an access token",
        CORE + "tokens/signing.py",
        to('if claims["typ"] != ACCESS:', "if False:"),
        (_TOKENS,),
    ),
    Mutation(
        "The issuer and audience of an access token",
        CORE + "tokens/signing.py",
        to(
            'if claims["iss"] != self.issuer or claims["aud"] != self.audience:',
            "if False:",
        ),
        (_TOKENS,),
    ),
    Mutation(
        "The expiry of an access token",
        CORE + "tokens/signing.py",
        to('if claims["exp"] <= clock.timestamp():', "if False:"),
        (_TOKENS,),
    ),
    Mutation(
        "The single algorithm of a key",
        CORE + "tokens/signing.py",
        without("                or key.alg != alg\n"),
        (_TOKENS,),
    ),
    Mutation(
        "The signature of an access token",
        CORE + "tokens/signing.py",
        without('                or not key.verifies(signed.encode("ascii"), unb64(signature))\n'),
        (_TOKENS,),
    ),
    Mutation(
        "The allowed members of a token's header",
        CORE + "tokens/signing.py",
        to("set(parsed) != _HEADER", "not set(parsed) >= _HEADER"),
        (_TOKENS,),
    ),
)

RIGHTS = (
    Mutation(
        "The permission check of the routes for super admins",
        CORE + "api/endpoint.py",
        to("if self.super_admin:", "if False:"),
        ("tests/admin_api/test_access.py",),
    ),
    Mutation(
        "The protection of the last super admin",
        CORE + "staff/super_admins.py",
        to(
            "if losing and is_active_super_admin(present)",
            "if False and is_active_super_admin(present)",
        ),
        ("tests/admin_api/test_rights.py",),
    ),
    Mutation(
        "The superusers of the project, who count as super admins",
        CORE + "staff/super_admins.py",
        to("if host().superuser:", "if False:"),
        ("tests/admin_api/test_rights.py",),
    ),
)

_SUPER_ADMINS = "tests/races/test_super_admins.py"
_AT_ONCE = f"{_SUPER_ADMINS}::test_super_admins_removing_each_other_leave_one[demote]"
_THEMSELVES = f"{_SUPER_ADMINS}::test_super_admins_demoting_themselves_leave_one"
_SELECTED = (
    "tests/admin/inside/test_last_super_admin.py",
    *("--ds=tests.admin.settings", "-mslow", "-kselected"),
)

# Two requests that read before either writes: detectable only with concurrent writers.
RACES = (
    Mutation(
        "The row locks of super admins while one of them loses the rights",
        CORE + "credentials/passwords.py",
        without(".select_for_update(no_key=no_key)"),
        (_AT_ONCE,),
        database="postgres",
    ),
    Mutation(
        "The row locks of the other super admins while one loses the rights",
        CORE + "staff/super_admins.py",
        (
            *to(
                "{pk, *_all()} if person and is_active_super_admin(person) else {pk}",
                "{pk}",
            ),
            *to("not _active_among(locked_keys - {pk})", "not _active_among({*_all()} - {pk})"),
        ),
        (_THEMSELVES,),
        database="postgres",
    ),
    Mutation(
        "The read of the super admins after they are locked",
        CORE + "staff/super_admins.py",
        to("not _active_among(locked_keys - {pk})", "not locked_keys - {pk}"),
        (_THEMSELVES,),
        database="postgres",
    ),
    Mutation(
        # Without ORDER BY any order may result, although a small table always returns the same.
        "The single order in which super admins are locked",
        CORE + "credentials/passwords.py",
        to('filter(pk__in=pks).order_by("pk")', 'filter(pk__in=pks).order_by("?")'),
        (_AT_ONCE,),
        database="postgres",
    ),
    Mutation(
        "The row locks of super admins while Django admin deletes one",
        CORE + "staff/super_admins.py",
        to("locked = passwords.lock_users(to_lock)", "locked = to_lock"),
        _SELECTED,
        database="postgres",
    ),
    Mutation(
        "The lock that a reference to a user being deleted waits for",
        CORE + "staff/create_and_delete.py",
        without("    super_admins.lock_against_references(person.user.pk)\n"),
        ("tests/races/test_deletion.py",),
        database="postgres",
    ),
    Mutation(
        "The caller, read again after a deadlock",
        CORE + "api/endpoint.py",
        to("action != self._allow:", "action != self._allow and not self.identity:"),
        ("tests/races/test_deadlocks.py",),
        database="postgres",
    ),
    Mutation(
        "The single lock order of a login and a reset",
        "authservice/kernel/sql.py",
        to("list(reversed(before))", "list(before)"),
        ("tests/kernel/test_sql_together.py", "tests/races/test_passwords.py"),
        database="postgres",
    ),
)
