from django.apps import apps

# These tests require a user model of their own: `test_host.py` runs them in a host that has it.
collect_ignore = [] if apps.is_installed("tests.extending.people") else ["inside"]
