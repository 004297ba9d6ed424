"""Long commands show a progress bar on a terminal, and nowhere else."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import OutputWrapper

import authservice
from authservice.core.management.command_line import progress
from tests.commands.test_cleanup import DAY, SECOND, one_time_token

PACKAGE = Path(authservice.__file__).parent
COMMANDS = {path.stem: path for path in PACKAGE.glob("**/management/commands/authservice_*.py")}
# Their work grows with the number of users or rows.
LONG = {
    "authservice_audit_cleanup",
    "authservice_cleanup",
    "authservice_import",
    "authservice_password_filter",
    "authservice_revoke",
    "authservice_sync_accounts",
}
SHORT = {
    "authservice_audit_partitions": "few statements for each month, which it names in lines",
    "authservice_disable_2fa": "one user",
    "authservice_doctor": "a report, within 30 seconds",
    "authservice_export": "the rows of one user",
    "authservice_keys": "a file of few keys",
    "authservice_local_provider": "a server, which names its address",
    "authservice_openapi": "prints one document",
    "authservice_organizations": "one organization, or a list whose lines are its progress",
    "authservice_search_index": "few statements of the database, each announced by a line",
    "authservice_super_admin": "one user",
    "authservice_support_group": "one group",
    "authservice_sweep": "another name of authservice_cleanup",
}


class Terminal(StringIO):
    def isatty(self):
        return True


def test_each_command_is_known_to_be_long_or_short():
    assert set(COMMANDS) == LONG | set(SHORT)


@pytest.mark.parametrize("name", sorted(LONG))
def test_long_command_has_a_progress_bar(name):
    assert "from authservice.core.management.command_line import" in COMMANDS[name].read_text()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("authservice_cleanup", ()),
        ("authservice_sweep", ()),
        ("authservice_revoke", ("--all", "--no-input")),
        ("authservice_sync_accounts", ()),
    ],
)
@pytest.mark.parametrize("stream", [Terminal, StringIO])
def test_bar_is_shown_on_a_terminal_only(api, command, arguments, stream):
    api.sign_up()
    for _ in range(3):
        one_time_token(expires_at=DAY + SECOND)
    shown, output = stream(), StringIO()

    call_command(command, *arguments, "--batch-size", "1", stdout=output, stderr=shown)

    assert "%" not in output.getvalue()
    if stream is Terminal:
        assert "[##############################] 100%\n" in shown.getvalue()
    else:
        assert shown.getvalue() == ""


def test_bar_ends_its_line_before_an_error():
    shown = Terminal()

    def fail():
        with progress(OutputWrapper(shown), lambda: 4) as done:
            done(1)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert shown.getvalue().endswith("] 25%\n")


def test_rows_are_not_counted_without_a_terminal():
    def count():
        raise AssertionError("counted")

    with progress(OutputWrapper(StringIO()), count) as done:
        done(1)


def test_bar_without_rows_is_not_drawn():
    shown = Terminal()
    with progress(OutputWrapper(shown), lambda: 0) as done:
        done(0)

    assert shown.getvalue() == ""


def test_progress_bar_does_not_exceed_one_hundred_percent():
    shown = Terminal()
    with progress(OutputWrapper(shown), lambda: 2) as done:
        done(5)

    assert shown.getvalue().endswith("100%\n")
    assert "250%" not in shown.getvalue()
