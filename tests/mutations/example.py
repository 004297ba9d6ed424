"""The console of the example project."""

from __future__ import annotations

from tests.mutations.kinds import Mutation, to, without

_TESTS = ("tests/example/test_console.py",)
_MAILBOX = "example_project/console/mailbox.py"

EXAMPLE = (
    Mutation(
        "The absence of the console in production",
        "example_project/console/front_end.py",
        to("default=debug and ", "default="),
        _TESTS,
    ),
    Mutation(
        "The absence of the mailbox in production",
        "example_project/settings.py",
        to("DEVELOPMENT = CONSOLE and DEBUG", "DEVELOPMENT = CONSOLE"),
        _TESTS,
    ),
    Mutation(
        "The mailbox that only this machine reads",
        _MAILBOX,
        without('        and _is_local(meta.get("REMOTE_ADDR", ""))\n'),
        _TESTS,
    ),
    Mutation(
        "The key of the mailbox",
        _MAILBOX,
        without('        and is_key(request.COOKIES.get(_COOKIE, ""))\n'),
        _TESTS,
    ),
    Mutation(
        "The mailbox that pages of other origins do not read",
        _MAILBOX,
        to('in ("same-origin", "none")', 'not in ("",)'),
        _TESTS,
    ),
)
