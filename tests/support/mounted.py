"""Install modules temporarily into the running project, with their routes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module, reload

from django.conf import settings
from django.test import override_settings
from django.urls import clear_url_caches

from authservice.kernel.modules import urlconfs

LOGIN = ("authservice.session", "authservice.stateless")


@contextmanager
def mounted(*apps: str, login: str = "") -> Iterator[None]:
    """Install these modules in addition to those of the test host; `login` replaces the host's
    login module."""
    apps_before = settings.INSTALLED_APPS
    if login:
        apps_before = [f"authservice.{login}" if app in LOGIN else app for app in apps_before]
    apps_after = [*apps_before, *(app for app in apps if app not in apps_before)]
    if apps_after == settings.INSTALLED_APPS:
        yield
        return
    with override_settings(INSTALLED_APPS=apps_after):
        remount()
        yield
    remount()


def remount() -> None:
    """Reload the URLconf for the modules that are installed now."""
    clear_url_caches()
    # The routes of a module may depend on which others are installed.
    for name in (*urlconfs(), "authservice.urls", "tests.urls"):
        reload(import_module(name))
