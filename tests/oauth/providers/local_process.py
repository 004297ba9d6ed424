"""Runs `authservice_local_provider` in a project with `DEBUG`; the argument is the port."""

import os
import sys

import django
from django.conf import settings
from django.core.management import call_command

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    settings.DEBUG = True
    django.setup()
    call_command("authservice_local_provider", "--port", sys.argv[1])
