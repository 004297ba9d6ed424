"""Where the project included our URLs."""

from __future__ import annotations

from urllib.parse import unquote

from django.http import HttpRequest
from django.urls import reverse


def mount() -> str:
    """The path below which our routes are, with the script prefix and a slash at its end.

    If the project includes the URLs twice, this is the instance that `reverse("authservice:me")`
    finds too: the one without a namespace of its own, else the last. Below `i18n_patterns` it is
    the path of the active language.
    """
    # The route of unknown paths matches the empty path, so its own path is the mount.
    return reverse("authservice:unknown")


def is_escaped(request: HttpRequest) -> bool:
    """Whether the path below the mount has a percent sign, as it was sent.

    No route needs one, and rules of a proxy for a path would not apply to another spelling of it,
    such as `/logi%6e`. Servers decode the path before Django gets it. Those that do not say what
    was sent, such as `runserver`, stand behind no proxy.
    """
    sent = _sent_path(request)
    if "%" not in sent and "%" not in request.path:
        return False
    below = request.path.removeprefix(unquote(mount()))
    # A proxy may have changed what comes before it, and the mount itself may need escapes.
    return "%" in below or "%" in "".join(sent.split("/")[-below.count("/") - 1 :])


def _sent_path(request: HttpRequest) -> str:
    scope = getattr(request, "scope", None)
    if scope is not None:
        return str((scope.get("raw_path") or b"").decode("latin-1").partition("?")[0])
    # Gunicorn's name, and that of uWSGI, mod_wsgi and waitress.
    target = request.META.get("RAW_URI") or request.META.get("REQUEST_URI") or ""
    return str(target).partition("?")[0]
