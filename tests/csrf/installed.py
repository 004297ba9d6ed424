"""The csrf module, installed for a while into the running project."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module, reload

from django.conf import settings
from django.test import override_settings
from django.urls import clear_url_caches


@contextmanager
def installed() -> Iterator[None]:
    if "authservice.csrf" in settings.INSTALLED_APPS:  # a host of the tests has it
        yield
        return
    with override_settings(INSTALLED_APPS=[*settings.INSTALLED_APPS, "authservice.csrf"]):
        remount()
        yield
    remount()


def remount() -> None:
    """Let the URLconf see which modules are there now."""
    clear_url_caches()
    for name in ("authservice.urls", "tests.urls"):
        reload(import_module(name))
