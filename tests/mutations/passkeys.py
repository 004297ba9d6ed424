"""Passkeys, and the step-up of signed-in users."""

from __future__ import annotations

from tests.mutations.kinds import CORE, HTTP, Mutation, to, without
from tests.mutations.pages import INSIDE, PAGES_SETTINGS

KEYS, _KEYS = "authservice/passkeys/", "tests/passkeys/test_"
_STEP_UP, _STEPS = CORE + "login/step_up.py", "tests/step_up/test_step_up.py"
_ON_PAGES = (f"{INSIDE}/test_passkeys.py", PAGES_SETTINGS)

PASSKEYS = (
    Mutation(
        "The verification of the user in a login with a passkey",
        KEYS + "passkey_login.py",
        to(
            'credential, challenge, verification="required", by_handle=True)',
            'credential, challenge, verification="preferred", by_handle=True)',
        ),
        (_KEYS + "login.py",),
    ),
    Mutation(
        "The refusal of a key that is only a second factor as a login",
        KEYS + "passkey_login.py",
        to("if not passkey.verifies:", "if False:"),
        (_KEYS + "recovery.py",),
    ),
    Mutation(
        "The single use of the challenge of a login with a passkey",
        KEYS + "passkey_login.py",
        to("is_first_use = challenges.use_up(challenge, present)", "is_first_use = True"),
        (_KEYS + "login.py",),
    ),
    Mutation(
        "The user handle in the answer of a passkey",
        KEYS + "passkey_login.py",
        to("if handle != match.handle and (by_handle or handle is not None):", "if False:"),
        (_KEYS + "login.py",),
    ),
    Mutation(
        "The purpose of the challenge of a passkey",
        KEYS + "challenges.py",
        to('"passkey-login", "passkey-enrolment"', '"passkey", "passkey"'),
        (_KEYS + "login.py", _KEYS + "enrolment.py"),
    ),
    Mutation(
        "The age of the challenge of a passkey",
        KEYS + "challenges.py",
        to("max_age=conf.timeout", "max_age=None"),
        (_KEYS + "login.py",),
    ),
    Mutation(
        "The session of an enrolment",
        KEYS + "challenges.py",
        to("if session_id != session.pk.hex:", "if False:"),
        (_KEYS + "enrolment.py",),
    ),
    Mutation(
        "The origin in the answer of a passkey",
        KEYS + "relying_party.py",
        to("if origin in origins():", "if True:"),
        (_KEYS + "second_verifier.py",),
    ),
    Mutation(
        "The refusal of a page inside a frame of another site",
        KEYS + "relying_party.py",
        to('if data.get("crossOrigin", False) is not False or "topOrigin" in data:', "if False:"),
        (_KEYS + "second_verifier.py",),
    ),
    Mutation(
        "The recent proof before a passkey is added",
        KEYS + "own_passkeys.py",
        to(
            "    step_up.require(caller.person, caller.record, Need())\n    if conditional:\n",
            "    if conditional:\n",
        ),
        (_KEYS + "enrolment.py",),
    ),
    Mutation(
        "The password before a passkey that the browser creates unasked",
        KEYS + "own_passkeys.py",
        to(
            "if not any(clock.utc() - time <= _CONDITIONAL for time in password_times):",
            "if False:",
        ),
        (_KEYS + "enrolment.py",),
    ),
    Mutation(
        "The end of other sessions with the first passkey that is a second factor",
        KEYS + "own_passkeys.py",
        to(
            "        if is_first:\n"
            "            sessions.end_without_factor(present, caller.session, ENABLED)\n"
            "        metadata = {",
            "        metadata = {",
        ),
        (_KEYS + "enrolment.py",),
    ),
    Mutation(
        "The last way to log in when a passkey is removed",
        KEYS + "own_passkeys.py",
        to(
            "            raise LastLoginMethod  # rolls the removal back\n",
            "            pass\n",
        ),
        (_KEYS + "managing.py",),
    ),
    Mutation(
        "The level that a removed passkey has proven",
        KEYS + "own_passkeys.py",
        without("        sessions.withdraw_proofs(present, KEY, HARDWARE_KEY)\n"),
        (_KEYS + "managing.py",),
    ),
    Mutation(
        "The owner of a passkey that answers a second factor",
        KEYS + "passkey_login.py",
        to("if match is None or match.passkey.user_id != person.user.pk:", "if match is None:"),
        (_KEYS + "factor.py",),
    ),
    Mutation(
        "The counter of a key that cannot be backed up",
        KEYS + "keys.py",
        to(
            'Q(counter__lt=param("bound", Passkey, "counter")) | Q(backup_eligible=True)',
            'Q(counter__lt=param("bound", Passkey, "counter")) | Q()',
        ),
        (_KEYS + "login.py",),
    ),
    Mutation(
        "The removal of recent passkeys by a password reset",
        KEYS + "passkey_login.py",
        to(
            'removed = _removed(recent.filter(second_factor=False), person, "recovery")',
            "removed = False",
        ),
        (_KEYS + "recovery.py",),
    ),
    Mutation(
        "The session of a step-up",
        _STEP_UP,
        to("session_id != session.pk.hex or answered", "answered"),
        (_STEPS,),
    ),
    Mutation(
        "The single use of a step-up",
        _STEP_UP,
        to("or answered or", "or"),
        (_STEPS,),
    ),
    Mutation(
        "The age of a step-up",
        _STEP_UP,
        to(" or clock.utc() - began > _TTL:", ":"),
        (_STEPS,),
    ),
    Mutation(
        "The end of the session between the check and the proof",
        CORE + "sessions/sessions.py",
        to("ended_at=None, levels=before", "levels=before"),
        (_STEPS,),
    ),
    Mutation(
        "The level that the proof of a step-up reaches",
        _STEP_UP,
        to("if reached is None or not levels.includes(reached, level):", "if False:"),
        (_STEPS,),
    ),
    Mutation(
        "The record of a wrong proof of a step-up",
        _STEP_UP,
        to("if fault.status == errors.InvalidCredentials.status:", "if False:"),
        (_STEPS,),
    ),
    Mutation(
        "The age of the proof that a guarded route asks for",
        _STEP_UP,
        to("within=need.max_age):", "within=None):"),
        ("tests/step_up/test_guards.py",),
    ),
    Mutation(
        "The level of the proof that a guarded route asks for",
        "authservice/kernel/levels.py",
        to("enough = ORDER[ORDER.index(level) :]", "enough = ORDER"),
        ("tests/step_up/test_guards.py",),
    ),
    Mutation(
        "The level that a passkey proved, after staff removed the passkey",
        KEYS + "own_passkeys.py",
        to(
            "sessions.withdraw_proofs(person, KEY, HARDWARE_KEY)\n            sessions.end",
            "sessions.end",
        ),
        (_KEYS + "support.py",),
    ),
    Mutation(
        "The recent proof before an app that was set up gives a step-up in the same session",
        _STEP_UP,
        to("return bool(proofs) and max(proofs).timestamp() < earliest", "return False"),
        (_STEPS,),
    ),
    Mutation(
        "The methods that the challenge of a step-up offered",
        _STEP_UP,
        to("if proof.method not in offered:", "if False:"),
        (_STEPS,),
    ),
    Mutation(
        "The step-up before an app is set up beside a passkey",
        "authservice/twofactor/enrolment.py",
        to("if step_up.asks_for_factor(person, other_factors):", "if False:"),
        (_KEYS + "factor.py",),
    ),
    Mutation(
        "The passkey that voids an older challenge to set up an app",
        "authservice/twofactor/verify_login.py",
        to("    if _other_factors(person, required=True):\n", "    if False:\n"),
        (_KEYS + "factor.py",),
    ),
    Mutation(
        "The passkey as it is in the database when a login uses it",
        KEYS + "keys.py",
        without('        verifies=param("verifies", Passkey),\n'),
        (_KEYS + "factor.py",),
    ),
    Mutation(
        "The end of all sessions when staff remove a second factor",
        KEYS + "own_passkeys.py",
        to("if any(passkey.second_factor for passkey in removed):", "if False:"),
        (_KEYS + "mails.py",),
    ),
    Mutation(
        "The CSRF token of the form of a passkey",
        "authservice/pages/login_pages.py",
        to(
            "        return _login_page(visitor)\n    body = Values(",
            "        pass\n    body = Values(",
        ),
        _ON_PAGES,
    ),
    Mutation(
        "The policy that allows no other script than that of the service",
        HTTP + "pages.py",
        to("script-src 'sha256-{_digest(script)}'", "script-src 'unsafe-inline'"),
        _ON_PAGES,
    ),
)
