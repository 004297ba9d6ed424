"""Hooks and fields of the host project."""

from __future__ import annotations

from tests.mutations.kinds import CORE, Mutation, to, without

_TESTS = "tests/extending/test_"

EXTENDING = (
    Mutation(
        "The refusal of a login by a hook",
        CORE + "login/login.py",
        to(
            "        if refusal is not None:\n            record",
            "        if False:\n            record",
        ),
        (_TESTS + "hooks.py",),
    ),
    Mutation(
        "The refusal of a sign-up by a hook",
        CORE + "login/signup.py",
        without("    hooks.require_signup_allowed(new_user, client, method=login.SIGNUP)\n"),
        (_TESTS + "hooks.py",),
    ),
    Mutation(
        "The silence about a refusal before the login hook is called",
        CORE + "login/hooks.py",
        to("        return Prepared(refusal=refusal)\n", "        raise refusal\n"),
        (_TESTS + "hooks.py",),
    ),
    Mutation(
        "The codes that hooks must not use",
        "authservice/kernel/hooks.py",
        to("if code in {", "if code not in {"),
        (_TESTS + "hooks.py",),
    ),
)
