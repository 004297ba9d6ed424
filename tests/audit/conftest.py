from django.apps import apps

# These tests require the audit module: `test_audit.py` runs them in a host that installs it.
collect_ignore = [] if apps.is_installed("authservice.audit") else ["inside"]
