"""The modules there are, read from the tree: a new one joins every test of hosts unasked."""

from __future__ import annotations

from pathlib import Path

import authservice

LOGIN = ("session", "stateless")
# What a module cannot do without; a system check of its own says so.
NEEDS = {"magiclink": ("notification",)}


def shipped() -> list[str]:
    """Every module but core."""
    package = Path(authservice.__file__).parent
    names = {path.parent.name for path in package.glob("*/apps.py")}
    return sorted(names - {"core"})


def alone(module: str) -> list[str]:
    """The apps of a host that wants this module, and what it stands on."""
    login = () if module in LOGIN else ("stateless",)
    return _apps("core", *login, *NEEDS.get(module, ()), module)


def everything() -> list[str]:
    """The apps of a host that wants all there is, with the login module that has more to it."""
    modules = shipped()
    spare = "stateless" if "session" in modules else ""
    return _apps("core", *(module for module in modules if module != spare))


def _apps(*modules: str) -> list[str]:
    return [f"authservice.{module}" for module in modules]


def replace(installed: list[str], apps: list[str]) -> list[str]:
    """`installed` with these apps of ours instead of those it has."""
    return [app for app in installed if not app.startswith("authservice.")] + apps
