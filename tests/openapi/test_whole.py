"""The description in the docs is current and includes every module."""

from tests.openapi.whole import COMMAND, FILE, whole


def test_committed_description_is_current():
    assert FILE.read_text() == whole(), f"docs/openapi.yaml is outdated: run `{COMMAND}`"
