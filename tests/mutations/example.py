"""The shop of the example project, and its mailbox."""

from __future__ import annotations

from tests.mutations.kinds import Mutation, to, without

_TESTS = ("tests/example/test_console.py",)
_MAILBOX = "example_project/console/mailbox.py"

EXAMPLE = (
    Mutation(
        "The absence of the shop in production",
        "example_project/settings.py",
        to("default=DEBUG and sys.argv", "default=sys.argv"),
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
    Mutation(
        "The record of requests without passwords and tokens",
        "example_project/console/recorder.py",
        to("and value and _SECRET.search(name)", "and value and not name"),
        ("tests/example/test_recorder.py",),
    ),
)
