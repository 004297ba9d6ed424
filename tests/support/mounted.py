"""Install modules temporarily into the running project, with their routes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module, reload
from types import ModuleType
from unittest.mock import patch

from django.conf import settings
from django.db.models.signals import post_delete, post_save, pre_delete, pre_save
from django.test import override_settings
from django.urls import URLPattern, URLResolver, clear_url_caches

from authservice.kernel import actions
from authservice.kernel.modules import installed

_SIGNALS = (pre_save, post_save, pre_delete, post_delete)
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
    with (
        _own_receivers(),
        patch.dict(actions.ACTIONS),
        override_settings(INSTALLED_APPS=apps_after),
    ):
        remount()
        yield
    remount()


@contextmanager
def _own_receivers() -> Iterator[None]:
    """Disconnect what the modules connect to the signals of models: their tables may not exist."""
    before = {signal: signal.receivers[:] for signal in _SIGNALS}
    try:
        yield
    finally:
        for signal, receivers in before.items():
            with signal.lock:
                signal.receivers[:] = receivers
                signal.sender_receivers_cache.clear()


def remount() -> None:
    """Reload the URLconf for the modules that are installed now."""
    # The pages of the pages module depend on which others are installed.
    urlconfs = [module.urls for module in installed() if module.urls]
    for name in (*urlconfs, "authservice.urls"):
        reload(import_module(name))
    # Every URLconf that was imported before, by whichever test, still has the routes of then.
    for module in list(sys.modules.values()):
        patterns = vars(module).get("urlpatterns") if isinstance(module, ModuleType) else None
        if isinstance(patterns, list):
            patterns[:] = map(_renewed, patterns)
    clear_url_caches()


def _renewed(pattern: URLPattern | URLResolver) -> URLPattern | URLResolver:
    """A resolver reads what it includes once, so a new one reads it again."""
    if isinstance(pattern, URLPattern):
        return pattern
    included = pattern.urlconf_name
    if isinstance(included, list | tuple):
        included = [_renewed(one) for one in included]
    return URLResolver(
        pattern.pattern, included, pattern.default_kwargs, pattern.app_name, pattern.namespace
    )
