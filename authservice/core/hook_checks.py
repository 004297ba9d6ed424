"""System checks of the hooks of the host project."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.core.checks import CheckMessage, register
from django.utils.module_loading import import_string

from authservice.core.conf import core
from authservice.kernel import settings as kernel_settings
from authservice.kernel.checks import message

HOOKS = ("login_hook", "login_hook_prepare", "signup_hook")


def connect() -> None:
    register(check_hooks, "authservice")


def check_hooks(**_: Any) -> Iterator[CheckMessage]:
    if list(kernel_settings.complaints()):
        return
    for name in HOOKS:
        path = getattr(core, name)
        if path and not _is_usable(path):
            text = f"CORE.{name.upper()} is {path!r}, which is not a function that returns at once."
            yield message("authservice.E220", text)
    if core.login_hook_prepare and not core.login_hook:
        yield message("authservice.W221")


def _is_usable(path: str) -> bool:
    try:
        hook = import_string(path)
    except ImportError:
        return True  # authservice.E003
    # The coroutine of an async function would never run, so its refusals would be lost.
    return callable(hook) and not iscoroutinefunction(hook)
