"""`python -W ignore -m tests.oauth.toolkit` starts the provider.

Prints its port, and ends when its standard input is closed.
"""

import logging
import os
import sys
from urllib.parse import urlsplit

import django
from django.core.management import call_command

from tests.support.serving import served

if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.oauth.toolkit.settings"
    logging.disable()
    django.setup()
    call_command("migrate", run_syncdb=True, verbosity=0)
    with served() as url:
        print(urlsplit(url).port, flush=True)
        sys.stdin.read()
