"""Where the project included our URLs."""

from __future__ import annotations

from django.urls import reverse


def mount() -> str:
    """The path below which our routes are, with the script prefix and a slash at its end.

    If the project includes the URLs twice, this is the instance that `reverse("authservice:me")`
    finds too: the one without a namespace of its own, else the last. Below `i18n_patterns` it is
    the path of the active language.
    """
    # The route of unknown paths matches the empty path, so its own path is the mount.
    return reverse("authservice:unknown")
