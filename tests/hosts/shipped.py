"""The modules of the package, read from the tree, so that tests of hosts include new modules."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import authservice

LOGIN = ("session", "stateless")
# The modules that a module requires; its system check reports them if they are missing.
NEEDS = {"magiclink": ("notification",)}


def shipped() -> list[str]:
    """Every module except core, such as `session` and `compat.simplejwt`."""
    return list(_shipped())


@cache
def _shipped() -> tuple[str, ...]:
    package = Path(authservice.__file__).parent
    found = (path.parent.relative_to(package) for path in package.rglob("apps.py"))
    names = {path.as_posix().replace("/", ".") for path in found}
    return tuple(sorted(names - {"core"}))


def alone(module: str) -> list[str]:
    """The apps of a host with this module and the modules that it requires."""
    login = () if module in LOGIN else ("stateless",)
    return _apps("core", *login, *NEEDS.get(module, ()), module)


def everything(login: str = "session") -> list[str]:
    """The apps of a host with every module; of the two login modules only `login`."""
    modules = shipped()
    spare = set(LOGIN) - {login} if login in modules else set()
    return _apps("core", *(module for module in modules if module not in spare))


def _apps(*modules: str) -> list[str]:
    return [f"authservice.{module}" for module in modules]


def replace(installed: list[str], apps: list[str]) -> list[str]:
    """`installed` with its apps of authservice replaced by `apps`."""
    return [app for app in installed if not app.startswith("authservice.")] + apps
