"""A host for browsers: the csrf module, its middleware, and tokens in cookies."""

from __future__ import annotations

from typing import Any


def change(settings: dict[str, Any]) -> None:
    settings["INSTALLED_APPS"].append("authservice.csrf")
    settings["MIDDLEWARE"] = [
        *settings["MIDDLEWARE"],
        "authservice.csrf.middleware.CsrfMiddleware",
        "tests.hosts.cookies.watch.watch",
    ]
    settings["AUTHSERVICE"]["COOKIES"] = {"ENABLED": True}
