"""System checks of the hooks and serializers of the host project."""

import pytest
from django.core import checks

HERE = "tests.extending.test_checks."


def hook(attempt):
    """A hook that never refuses."""


async def never_awaited(attempt):
    """An async function."""


NOT_A_FUNCTION = {}


def found():
    return [one.id.partition(".")[2] for one in checks.run_checks(tags=["authservice"])]


@pytest.fixture
def before(configure):
    """The messages of the host of the tests itself."""
    return found()


@pytest.mark.parametrize(
    ("core", "expected"),
    [
        ({"LOGIN_HOOK": HERE + "hook"}, []),
        ({"LOGIN_HOOK": HERE + "hook", "LOGIN_HOOK_PREPARE": HERE + "hook"}, []),
        ({"SIGNUP_HOOK": HERE + "hook"}, []),
        ({"LOGIN_HOOK": HERE + "never_awaited"}, ["E006"]),
        ({"SIGNUP_HOOK": HERE + "NOT_A_FUNCTION"}, ["E006"]),
        ({"LOGIN_HOOK": HERE + "absent"}, ["E006"]),
        ({"LOGIN_HOOK_PREPARE": HERE + "hook"}, ["W221"]),
    ],
)
def test_check_reports_unusable_hooks(before, configure, core, expected):
    configure(CORE=core)

    assert sorted(found()) == sorted([*before, *expected])
