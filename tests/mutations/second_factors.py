"""Second factors."""

from __future__ import annotations

from tests.mutations.kinds import CORE, Mutation, to, without

TWO, _TWO = "authservice/twofactor/", "tests/twofactor/test_"

SECOND_FACTORS = (
    Mutation(
        "The challenge of a login with a second factor",
        TWO + "verify_login.py",
        to("if authenticator and authenticator.confirmed:", "if False:"),
        (_TWO + "challenge.py",),
    ),
    Mutation(
        "The challenge of a login whose user was read with an enabled factor",
        TWO + "verify_login.py",
        to("person.gate_values.get(_CONFIRMED, True)", "False"),
        (_TWO + "challenge.py",),
    ),
    Mutation(
        "The query for a factor in a login that did not read it with the user",
        TWO + "verify_login.py",
        to("gate_values.get(_CONFIRMED, True)", "gate_values.get(_CONFIRMED)"),
        (_TWO + "challenge.py",),
    ),
    Mutation(
        "The second factor that is required of staff",
        TWO + "verify_login.py",
        to("person.is_super_admin or person.is_staff", "person.is_super_admin"),
        (_TWO + "required.py",),
    ),
    Mutation(
        "The code of staff on a remembered device",
        TWO + "verify_login.py",
        to(' or conf.required == "staff")', ")"),
        (_TWO + "required.py",),
    ),
    Mutation(
        "The single use of a time step",
        TWO + "authenticators.py",
        to("confirmed=True, last_step__lt=step)", "confirmed=True)"),
        (_TWO + "rows.py",),
    ),
    Mutation(
        "The refusal of time steps before a used one",
        TWO + "authenticators.py",
        to("if number > after", "if True"),
        (_TWO + "vectors.py",),
    ),
    Mutation(
        "The window of a time step",
        TWO + "authenticators.py",
        to("_WINDOW = (-1, 0, 1)", "_WINDOW = (-1, 0, 1, 2)"),
        (_TWO + "vectors.py",),
    ),
    Mutation(
        "The single use of a backup code",
        TWO + "authenticators.py",
        without("        used_at=None,\n"),
        (_TWO + "rows.py",),
    ),
    Mutation(
        "The check that a factor is enabled with the verified secret",
        TWO + "authenticators.py",
        without(", enrolment=authenticator.enrolment"),
        (_TWO + "rows.py",),
    ),
    Mutation(
        "The enabled factor that a set-up must not replace",
        TWO + "authenticators.py",
        to("filter(user=person.user.pk, confirmed=False)", "filter(user=person.user.pk)"),
        (_TWO + "setup.py",),
    ),
    Mutation(
        "The owner inside a sealed secret",
        TWO + "authenticators.py",
        to('Secret(secret if owner == str(authenticator.user_id) else "")', "Secret(secret)"),
        (_TWO + "verify.py",),
    ),
    Mutation(
        "The five attempts of a temp_token",
        TWO + "verify_login.py",
        without("    count_on_token(token)\n"),
        (_TWO + "challenge.py",),
        times=2,  # for a code, and for a passkey
    ),
    Mutation(
        "The ten attempts of an account",
        TWO + "verify_login.py",
        to("key = authenticators.count_attempt(", "key = authenticators.counter("),
        (_TWO + "attempts.py",),
    ),
    Mutation(
        "The devices that have attempts of their own",
        TWO + "authenticators.py",
        without(", since=authenticator.enabled_at"),
        (_TWO + "attempts.py",),
    ),
    Mutation(
        "The single use of a temp_token",
        TWO + "verify_login.py",
        to(
            "if not one_time.consume(token, password_fingerprint=token.password_fingerprint):",
            "if False:",
        ),
        (_TWO + "challenge.py",),
        times=2,
    ),
    Mutation(
        "The password that a remembered device depends on",
        TWO + "verify_login.py",
        to("passwords.matches_fingerprint(fingerprint, person.password)", "fingerprint"),
        (_TWO + "remembered.py",),
    ),
    Mutation(
        "The end of sessions when staff remove a factor",
        TWO + "enrolment.py",
        without("        sessions.end_all(person, REMOVED)\n"),
        (_TWO + "disable.py",),
    ),
    Mutation(
        "The separate attempts of a device on which a factor was set up during login",
        CORE + "credentials/lockout.py",
        to("token.issued_at < int(since.timestamp())", "token.issued_at < since.timestamp()"),
        (_TWO + "required.py",),
    ),
    Mutation(
        "The devices of logins that read the account before a factor was enabled",
        CORE + "credentials/lockout.py",
        without(', factor_version=param("factor_version", Account)'),
        ("tests/core/credentials/test_known_devices.py",),
    ),
    Mutation(
        "The check under the lock that the session is valid, before a factor changes",
        CORE + "sessions/sessions.py",
        without(" or not is_valid(*person_and_session)"),
        (_TWO + "interleaved.py",),
    ),
    Mutation(
        "The password hash that a temp_token is bound to",
        CORE + "credentials/one_time.py",
        to(
            "bool(rows.filter(**unchanged).update(spent_at=clock.now()))",
            "bool(rows.update(spent_at=clock.now()))",
        ),
        (_TWO + "interleaved.py",),
    ),
    Mutation(
        "The rollback of a step-up whose code was used meanwhile",
        TWO + "verify_login.py",
        without("            transaction.set_rollback(True, using=databases.primary())\n"),
        (_TWO + "interleaved.py",),
    ),
    Mutation(
        "The session that must still live when a code proves its level",
        TWO + "verify_login.py",
        without("        if not all(other_changes):\n            raise InvalidToken\n"),
        (_TWO + "interleaved.py",),
    ),
    Mutation(
        "The entry of a factor that a recovery removes",
        TWO + "verify_login.py",
        to("if any(row.confirmed for row in removed):", "if False:"),
        (_TWO + "events.py",),
    ),
)
