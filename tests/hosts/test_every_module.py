"""Runs the tests of several folders in one host with every module and Django admin.

A start of Django takes as long as a third of these tests. Each folder has a test for its own part,
which is left to this one where both are run.
"""

from tests.hosts.runs import holds

FOLDERS = ("audit", "staff_support", "personal_data")


def test_folders_of_the_host_with_every_module():
    inside = [f"tests/{folder}/inside" for folder in FOLDERS]
    holds("--ds=tests.audit.settings", *inside, sample=True)
