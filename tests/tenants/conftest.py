from django.apps import apps

# The tests of `inside` need the tenants of `customers`; `test_tenants.py` runs them there.
collect_ignore = [] if apps.is_installed("tests.tenants.customers") else ["inside"]
