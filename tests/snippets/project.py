"""Runs blocks of Python, each in a new project of its own: `python -m tests.snippets.project`.

Standard input is a list of `{"place", "code", "given", "then"}`, standard output the traceback of
each block that fails. What a block sets in capitals are settings, and so are keys that it adds to
them, such as `AUTHSERVICE["CSRF"]`; Django then starts.
The rest of the block runs after that, its `urlpatterns` are loaded, and Django runs its checks.
`given` is code that runs before the block: settings and modules of the project. `then` runs after
it, with tables.

Django starts once in a process, so each block has a fork of this one.
"""

from __future__ import annotations

import ast
import json
import os
import sys
import traceback
import types
from importlib import import_module
from typing import Any

import django
from django.conf import settings
from django.core import checks
from django.core.management import call_command
from django.urls import include, path

from tests.support.admin_settings import TEMPLATES

HOST = "tests.snippets"
APPS = [
    HOST,
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "rest_framework",
    "authservice.core",
    "authservice.notification",
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
URLCONF = "project_urls"
# Imported once for all blocks, which takes half of the time: what needs no settings.
_SHARED = (
    "cryptography.hazmat.primitives.asymmetric.ec",
    "django.contrib.postgres.fields",
    "django.core.management.commands.migrate",
    "django.core.serializers.json",
    "django.forms.models",
    "django.test",
    "django.views.debug",
    "django.views.generic",
    "jwt",
    "phonenumbers",
    "requests",
    "urllib3",
)


class NoMigrations:
    """Tables are made from the models, which takes a tenth of the time."""

    def __contains__(self, label: str) -> bool:
        return True

    def __getitem__(self, label: str) -> None:
        return None


def main() -> None:
    for name in _SHARED:
        import_module(name)
    for block in json.load(sys.stdin):
        print(end="", flush=True)
        if not (child := os.fork()):
            os._exit(_run(**block))
        os.waitpid(child, 0)


def _run(place: str, code: str, given: str, then: str) -> int:
    try:
        _project(place, code, given, then)
    except BaseException:
        print(json.dumps([place, traceback.format_exc()]), flush=True)
        return 1
    return 0


def _project(place: str, code: str, given: str, then: str) -> None:
    tree = ast.parse(code, place)
    names: dict[str, Any] = {
        "__name__": f"{HOST}.models",
        "INSTALLED_APPS": [],
        "MIDDLEWARE": [],
        "AUTHSERVICE": {},
    }
    exec(given, names)
    first = [node for node in tree.body if _is_setting(node)]
    used = {name.id for node in first for name in ast.walk(node) if isinstance(name, ast.Name)}
    _execute([*(node for node in tree.body if _imports(node) & used), *first], place, names)
    _start(names)
    urls = sys.modules[URLCONF].__dict__
    urls["urlpatterns"] = names["urlpatterns"] = [path("auth/", include("authservice.urls"))]
    if then:
        call_command("migrate", run_syncdb=True, verbosity=0)
    _execute([node for node in tree.body if node not in first], place, names)
    exec(then, names)
    urls["urlpatterns"] = [one for one in names["urlpatterns"] if one is not ...]
    wrong = [error for error in checks.run_checks(databases=[]) if error.is_serious()]
    assert not wrong, wrong


def _start(names: dict[str, Any]) -> None:
    given = {key: value for key, value in names.items() if key.isupper()}
    given["INSTALLED_APPS"] = _with(APPS, given["INSTALLED_APPS"])
    given["MIDDLEWARE"] = _with(MIDDLEWARE, given["MIDDLEWARE"])
    given["AUTHSERVICE"] = {"API_URL": "https://api.example.com", **given["AUTHSERVICE"]}
    sys.modules[URLCONF] = types.ModuleType(URLCONF)
    defaults = {
        "SECRET_KEY": "a secret of the tests, long enough to be a key",
        "ALLOWED_HOSTS": ["testserver"],
        "ROOT_URLCONF": URLCONF,
        "TEMPLATES": TEMPLATES,
        "DATABASES": {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
        "DEFAULT_AUTO_FIELD": "django.db.models.BigAutoField",
        "MIGRATION_MODULES": NoMigrations(),
    }
    settings.configure(**{**defaults, **given})
    django.setup()


def _with(base: list[str], added: list[Any]) -> list[str]:
    """The base, and what the block adds, or writes in place of `...`."""
    return [*base, *(name for name in added if name is not ... and name not in base)]


def _is_setting(node: ast.stmt) -> bool:
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    while isinstance(target, ast.Subscript):
        target = target.value
    return isinstance(target, ast.Name) and target.id.isupper()


def _imports(node: ast.stmt) -> set[str]:
    named = node.names if isinstance(node, ast.Import | ast.ImportFrom) else []
    return {name.asname or name.name for name in named}


def _execute(body: list[ast.stmt], place: str, names: dict[str, Any]) -> None:
    # Annotations are evaluated, as in the module of a reader.
    exec(compile(ast.Module(body, []), place, "exec", dont_inherit=True), names)


if __name__ == "__main__":
    main()
