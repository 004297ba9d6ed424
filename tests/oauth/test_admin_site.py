"""Django admin with linked providers; the host runs in a process of its own."""

from tests.hosts.runs import holds


def test_django_admin_lists_and_unlinks_providers():
    holds("tests/oauth/inside", "--ds=tests.admin.settings")
