"""Runs the tests of what is stored about a person in a host with every module, in its own
process."""

import pytest

from tests.hosts.runs import holds, left_to

INSIDE = ("tests/personal_data/inside", "--ds=tests.audit.settings")


def test_export_and_deletion_in_a_host_with_every_module(request):
    left_to("test_folders_of_the_host_with_every_module", request)
    holds(*INSIDE)


@pytest.mark.slow
def test_large_export_is_not_held_in_memory():
    holds("-m", "slow", *INSIDE)
