"""Django admin with passkeys; the host runs in a process of its own."""

from tests.hosts.runs import holds


def test_django_admin_lists_and_removes_passkeys():
    holds("tests/passkeys/inside", "--ds=tests.admin.settings")
