from django.apps import apps

# The tests of `inside` need the user models of `people`; the files here run them in such projects.
collect_ignore = [] if apps.is_installed("tests.user_models.people") else ["inside"]
