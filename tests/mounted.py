"""Modules installed for a while into the running project, with their routes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module, reload

from django.conf import settings
from django.test import override_settings
from django.urls import clear_url_caches


@contextmanager
def mounted(*apps: str) -> Iterator[None]:
    """Those that the host of the tests has already stay as they are."""
    absent = [app for app in apps if app not in settings.INSTALLED_APPS]
    if not absent:
        yield
        return
    with override_settings(INSTALLED_APPS=[*settings.INSTALLED_APPS, *absent]):
        remount()
        yield
    remount()


def remount() -> None:
    """Let the URLconf see which modules are there now."""
    clear_url_caches()
    for name in ("authservice.urls", "tests.urls"):
        reload(import_module(name))
