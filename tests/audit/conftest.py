from django.apps import apps

# Where the module is not installed there is nothing to try: `test_audit.py` runs a host with it.
collect_ignore = [] if apps.is_installed("authservice.audit") else ["inside"]
