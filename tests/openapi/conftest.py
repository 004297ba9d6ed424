from django.apps import apps

# These tests require every module: `test_examples.py` runs them in a host that has all.
collect_ignore = [] if apps.is_installed("authservice.organization") else ["inside"]
