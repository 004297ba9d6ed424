from django.apps import apps

# `test_compat.py` runs these tests in their host.
collect_ignore = [] if apps.is_installed("authservice.compat.simplejwt") else ["inside"]
