"""The session module instead of the stateless one, for a while, in the running project."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.test import override_settings

from tests.mounted import remount


@contextmanager
def installed() -> Iterator[None]:
    apps = settings.INSTALLED_APPS
    if "authservice.session" in apps:  # a host of the tests has it
        yield
        return
    exchanged = {"authservice.stateless": "authservice.session"}
    with override_settings(INSTALLED_APPS=[exchanged.get(app, app) for app in apps]):
        remount()
        yield
    remount()
