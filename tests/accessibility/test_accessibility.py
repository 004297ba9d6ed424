"""Runs axe-core in a host with every module, Django admin and its style sheets."""

import pytest

from tests.hosts.runs import SQLITE, holds


@pytest.mark.slow
def test_pages_and_mails_of_every_module():
    inside = ("-m", "slow", "tests/accessibility/inside", "--ds=tests.staff_support.settings")
    holds(*inside, **SQLITE)
