"""Hooks and fields of the host project."""

from __future__ import annotations

from tests.mutations.kinds import CORE, Mutation, to, without

_TESTS = "tests/extending/test_"
_INSIDE = "tests/extending/inside/test_"
_HOST = "--ds=tests.extending.settings"

EXTENDING = (
    Mutation(
        "The refusal of a login by a hook",
        CORE + "login/login.py",
        to("(refused := host_hooks.refusal(arrival, prepared)) is not None", "(refused := None)"),
        (_TESTS + "hooks.py",),
    ),
    Mutation(
        "The refusal of a sign-up by a hook",
        CORE + "login/signup.py",
        without("    host_hooks.require_signup_allowed(new_user, client, method=login.SIGNUP)\n"),
        (_TESTS + "hooks.py",),
    ),
    Mutation(
        "The delay of an early refusal until the login hook is called",
        CORE + "login/host_hooks.py",
        to("        return Prepared(refusal=refusal)\n", "        raise refusal\n"),
        (_TESTS + "hooks.py",),
    ),
    Mutation(
        "The refusal of a right that a serializer adds",
        CORE + "users/extra_fields.py",
        to("in reserved().intersection(self.values):", "in ():"),
        (_HOST, _INSIDE + "signup_fields.py", _INSIDE + "profile_fields.py"),
    ),
    Mutation(
        "The fields that a serializer of the host must not have",
        CORE + "users/user_fields.py",
        to("        if _is_user(model) and name in reserved():\n", "        if False:\n"),
        (_HOST, _INSIDE + "field_checks.py"),
    ),
    Mutation(
        "The tables with secrets that extra fields must not lead to",
        CORE + "users/user_fields.py",
        to("if model is not None and is_secret(model):", "if False:"),
        (_HOST, _INSIDE + "field_checks.py"),
    ),
    Mutation(
        "The absence of extra fields in lists for staff",
        "authservice/admin/views.py",
        to("**responses.user(person)", "**responses.own_user(person)"),
        (_HOST, _INSIDE + "user_fields.py"),
    ),
    Mutation(
        "The passwords that serializers of the host do not get",
        CORE + "users/extra_fields.py",
        to(" if name in accepted(schema)}", "}"),
        (_HOST, _INSIDE + "signup_fields.py"),
    ),
    Mutation(
        "The response to a unique extra field that is taken meanwhile",
        CORE + "users/creation.py",
        without("            new_user.extra_fields.require_valid()\n"),
        (_HOST, "tests/extending/inside/races"),
        database="postgres",
    ),
    Mutation(
        "The codes that hooks must not use",
        "authservice/kernel/hooks.py",
        to("if code in {", "if code not in {"),
        (_TESTS + "hooks.py",),
    ),
)
