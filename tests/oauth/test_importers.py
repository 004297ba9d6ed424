"""Links of other packages are imported; the packages are installed in a process of its own."""

from tests.hosts.runs import holds


def test_links_of_other_packages_are_imported():
    holds("tests/oauth/importing", "--ds=tests.oauth.importing.settings")
