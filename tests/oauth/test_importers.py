"""Links of other packages are imported; the packages are installed in a process of its own."""

import pytest

from tests.hosts.runs import SQLITE, holds

INSIDE = ("tests/oauth/importing", "--ds=tests.oauth.importing.settings")


def test_links_of_other_packages_are_imported():
    holds(*INSIDE, sample=True, migrate=False)


@pytest.mark.slow
def test_every_case_of_an_import_of_links():
    holds(*INSIDE, **SQLITE)
