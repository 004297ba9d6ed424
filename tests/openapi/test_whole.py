"""The description in the docs is that of the code: every module, and nothing that is gone."""

from tests.openapi.whole import COMMAND, FILE, whole


def test_the_committed_description_is_current():
    assert FILE.read_text() == whole(), f"docs/openapi.yaml is behind the code: run `{COMMAND}`"
