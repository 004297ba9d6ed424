"""Links of other packages are imported; the packages are installed in a process of its own."""

import pytest

from tests.hosts.runs import FROM_MODELS, SQLITE, holds

INSIDE = ("tests/oauth/importing", "--ds=tests.oauth.importing.settings")


def test_links_of_other_packages_are_imported():
    holds(*INSIDE, FROM_MODELS, sample=True)


@pytest.mark.slow
def test_every_case_of_an_import_of_links():
    holds(*INSIDE, **SQLITE)
