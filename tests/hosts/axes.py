"""A host whose logins are limited by django-axes."""

from __future__ import annotations

from typing import Any


def change(settings: dict[str, Any]) -> None:
    settings["INSTALLED_APPS"].append("axes")
    settings["AUTHENTICATION_BACKENDS"] = [
        "axes.backends.AxesStandaloneBackend",
        "django.contrib.auth.backends.ModelBackend",
    ]
    # Above any limit of authservice, so that the wrong passwords of the suite do not reach it.
    settings["AXES_FAILURE_LIMIT"] = 1000
