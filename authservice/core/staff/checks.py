"""System checks of Django admin's login."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core import checks
from django.urls import URLPattern, URLResolver, get_resolver

from authservice.kernel.modules import plug

FORM = "authservice.core.staff.login_form.AdminAuthenticationForm"
TEMPLATE = "authservice/core/admin-login.html"
_NOT_LIMITED = ("django.", "django_otp.")


def connect() -> None:
    checks.register(check_admin_login, "authservice")


def check_admin_login(**_: Any) -> Iterator[checks.CheckMessage]:
    if not apps.is_installed("django.contrib.admin") or not getattr(settings, "ROOT_URLCONF", None):
        return
    for site in _mounted(get_resolver()):
        if _is_unprotected(site):
            yield checks.Warning(
                f"The login of the Django admin site {site.name!r} does not limit attempts at"
                " passwords, does not record them, and does not ask for the second factor.",
                hint=f"Set `login_form` of the site to {FORM} and `login_template` to"
                f" {TEMPLATE!r}.",
                id="authservice.W110",
            )
        elif _has_no_field_for_codes(site):
            yield checks.Warning(
                f"The login of the Django admin site {site.name!r} shows no field for a code:"
                " users with a second factor cannot log in.",
                hint=f"Set `login_template` of the site to {TEMPLATE!r} or to a template of your"
                " own that shows `form.code`.",
                id="authservice.W114",
            )


def _mounted(resolver: URLResolver) -> list[Any]:
    """Every admin site in the URLconf, once."""
    found = {id(site): site for site in _sites(resolver)}
    return list(found.values())


def _sites(resolver: URLResolver) -> Iterator[Any]:
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            yield from _sites(entry)
        elif isinstance(entry, URLPattern) and hasattr(entry.callback, "admin_site"):
            yield entry.callback.admin_site


def _is_unprotected(site: Any) -> bool:
    """Whether the form is Django's or that of django-otp; a host's own form is not checked."""
    form = site.login_form
    return form is None or form.__module__.startswith(_NOT_LIMITED)


def _has_no_field_for_codes(site: Any) -> bool:
    ours = f"{site.login_form.__module__}.{site.login_form.__qualname__}" == FORM
    return ours and plug("second_factor") is not None and not site.login_template
