from django.apps import apps

# These tests require the module: `test_organization.py` runs them in a host that installs it.
collect_ignore = [] if apps.is_installed("authservice.organization") else ["inside"]
