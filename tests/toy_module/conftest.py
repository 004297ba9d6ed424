from django.apps import apps

# These tests require the module: `test_module.py` runs them in a host that has it.
collect_ignore = [] if apps.is_installed("tests.toy_module.bookmarks") else ["inside"]
