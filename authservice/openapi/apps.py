"""App configuration of the openapi module."""

from __future__ import annotations

from importlib import import_module

from django.apps import apps

from authservice.kernel import modules
from authservice.kernel.languages import admin_text


class OpenAPIConfig(modules.ModuleConfig):
    name = "authservice.openapi"
    label = "authservice_openapi"
    verbose_name = admin_text("API description")
    views = "authservice.openapi.views"

    def ready(self) -> None:
        from authservice.openapi import checks

        checks.connect()
        if apps.is_installed("drf_spectacular"):
            # drf-spectacular knows our authentication class once this module is imported.
            import_module("authservice.openapi.spectacular")
