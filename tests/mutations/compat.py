"""Modules for projects that come from another package."""

from __future__ import annotations

from tests.mutations.kinds import CORE, Mutation, to, without

_SIMPLEJWT = "authservice/compat/simplejwt/"
_TESTS = ("--ds=tests.compat.settings", "tests/compat/inside")

COMPAT = (
    Mutation(
        "The valid session of a token that simplejwt's verify accepts",
        _SIMPLEJWT + "views.py",
        without(".require_live()"),
        _TESTS,
    ),
    Mutation(
        "The refusal of a replaced refresh token by simplejwt's verify and blacklist",
        CORE + "sessions/rotation.py",
        to(
            "    if token.counter != session.counter:\n        raise errors.InvalidRefreshToken\n",
            "",
        ),
        _TESTS,
    ),
    Mutation(
        "The device of a browser, which a form of another site cannot replace",
        _SIMPLEJWT + "views.py",
        to("if self.request.content_type != FORM:", "if True:"),
        _TESTS,
    ),
)
