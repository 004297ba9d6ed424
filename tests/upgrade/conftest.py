from django.conf import settings

# These tests load the rows of a release: `test_upgrade.py` runs them in a host with every module.
collect_ignore = [] if hasattr(settings, "LOGIN") else ["inside"]
