"""A host that describes its own API with drf-spectacular; `OAS_VERSION` sets the version."""

from __future__ import annotations

import os
from typing import Any


def change(settings: dict[str, Any]) -> None:
    settings["INSTALLED_APPS"] += ["drf_spectacular"]
    settings["ROOT_URLCONF"] = "tests.hosts.spectacular.urls"
    settings["REST_FRAMEWORK"] = {"DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema"}
    settings["SPECTACULAR_SETTINGS"] = {
        "TITLE": "Shop",
        "OAS_VERSION": os.environ["OAS_VERSION"],
        "POSTPROCESSING_HOOKS": [
            "drf_spectacular.hooks.postprocess_schema_enums",
            "authservice.openapi.spectacular.add_routes",
        ],
    }
