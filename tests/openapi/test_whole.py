"""The description in the docs is current and includes every module."""

from tests.clients import npm
from tests.openapi.whole import COMMAND, FILE, whole


def test_committed_description_is_current():
    assert FILE.read_text() == whole(), f"docs/openapi.yaml is outdated: run `{COMMAND}`"


def test_types_of_the_client_are_those_of_the_description():
    """Without npm; tests/clients compares the types themselves."""
    with (npm.CLIENTS / npm.SCHEMA).open() as types:
        line = types.readline().strip()

    assert line == npm.digest_line(), f"the types are outdated: run `{npm.COMMAND}`"
