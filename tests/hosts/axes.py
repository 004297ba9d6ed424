"""A host that has django-axes watch over its logins."""

from __future__ import annotations

from typing import Any


def change(settings: dict[str, Any]) -> None:
    settings["INSTALLED_APPS"].append("axes")
    settings["AUTHENTICATION_BACKENDS"] = [
        "axes.backends.AxesStandaloneBackend",
        "django.contrib.auth.backends.ModelBackend",
    ]
    # Above any limit of ours, so that the suite's own wrong passwords do not meet it.
    settings["AXES_FAILURE_LIMIT"] = 1000
