"""Django admin with passkeys and linked providers; both run in one process of their own."""

from tests.hosts.runs import FROM_MODELS, holds


def test_django_admin_lists_and_removes_passkeys_and_links_to_providers():
    holds("tests/passkeys/inside", "tests/oauth/inside", "--ds=tests.admin.settings", FROM_MODELS)
