"""Print how long one side takes to start; runs inside its environment, in a new process.

With the argument ``bare``, only Django's own applications are installed.
"""

import importlib
import os
import sys
import time

import django
from django.urls import get_resolver


def main() -> None:
    # Settings are loaded before the clock starts: their cost is not part of the comparison.
    settings = importlib.import_module(os.environ["DJANGO_SETTINGS_MODULE"])
    if "bare" in sys.argv:
        strip(settings)
    started = time.perf_counter()
    django.setup()
    ready = time.perf_counter()
    # Django imports the views with the first request, so a worker is not ready without them.
    _ = get_resolver().url_patterns
    loaded = time.perf_counter()
    print((ready - started) * 1000, (loaded - started) * 1000)


def strip(settings) -> None:
    settings.INSTALLED_APPS = [app for app in settings.INSTALLED_APPS if app.startswith("django.")]
    settings.ROOT_URLCONF = "tests.benchmarks.bare_urls"


if __name__ == "__main__":
    main()
