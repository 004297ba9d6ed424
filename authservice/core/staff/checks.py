"""System checks of Django admin: its login, and the pages of users."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, register
from django.urls import URLPattern, URLResolver, get_resolver

from authservice.core.users.user_model import host
from authservice.kernel.checks import declare, message
from authservice.kernel.interfaces import SecondFactor
from authservice.kernel.modules import plugs

declare(
    {
        "authservice.W110": (
            "A Django admin site is not protected: its login does not limit attempts at passwords,"
            " does not record them, and does not ask for the second factor.",
            "In urls.py, call authservice.core.staff.admin_site.protect with the site.",
        ),
        "authservice.W114": (
            "The login of a Django admin site shows no field for a code: users with a second"
            " factor cannot log in.",
            "Set login_template of the site to 'authservice/core/admin-login.html', or to a"
            " template of your own that shows form.code.",
        ),
        "authservice.W115": (
            "Staff who may change users on a page of Django admin can make themselves superusers.",
            "Register the page before authservice.core.staff.admin_site.protect is called with the"
            " site, or make authservice.core.staff.admin_pages.SuperAdminGuard its first base"
            " class.",
        ),
        "authservice.W116": (
            "The page of a Django admin site on which staff change their own password does not"
            " limit attempts at the old one, and does not record or notify a change.",
            "In urls.py, call authservice.core.staff.admin_site.protect with the site.",
        ),
    }
)

FORM = "authservice.core.staff.login_form.AdminAuthenticationForm"
TEMPLATE = "authservice/core/admin-login.html"
GUARD = "authservice.core.staff.admin_pages.SuperAdminGuard"
_NOT_LIMITED = ("django.", "django_otp.")


def connect() -> None:
    for check in (check_admin_login, check_password_change, check_user_pages):
        register(check, "authservice")


def check_admin_login(**_: Any) -> Iterator[CheckMessage]:
    for site in _mounted():
        if _is_unprotected(site):
            yield message(
                "authservice.W110",
                f"The Django admin site {site.name!r} is not protected: its login does not limit"
                " attempts at passwords, does not record them, and does not ask for the second"
                " factor.",
            )
        elif _has_no_field_for_codes(site):
            yield message(
                "authservice.W114",
                f"The login of the Django admin site {site.name!r} shows no field for a code:"
                " users with a second factor cannot log in.",
            )


def check_password_change(**_: Any) -> Iterator[CheckMessage]:
    for site in _protected():
        if site.password_change.__module__.startswith(_NOT_LIMITED):
            yield message(
                "authservice.W116",
                f"The page of the Django admin site {site.name!r} on which staff change their own"
                " password does not limit attempts at the old one, and does not record or notify a"
                " change.",
            )


def check_user_pages(**_: Any) -> Iterator[CheckMessage]:
    for site in _protected():
        for page in user_pages_without_guard(site):
            yield message(
                "authservice.W115",
                f"Staff who may change users on the page {type(page).__qualname__!r} of the"
                f" Django admin site {site.name!r} can make themselves superusers.",
                obj=page,
            )


def user_pages_without_guard(site: Any) -> list[Any]:
    return [
        page
        for model, page in site._registry.items()
        if issubclass(model, host().model) and GUARD not in _names(type(page))
    ]


def _names(page: type) -> list[str]:
    """The class and its bases. By name, since Django admin may not be imported here."""
    return [f"{base.__module__}.{base.__qualname__}" for base in page.__mro__]


def _protected() -> list[Any]:
    """The mounted sites without `W110`, whose hint mends the rest too."""
    return [site for site in _mounted() if not _is_unprotected(site)]


def _mounted() -> list[Any]:
    """Every admin site in the URLconf, once."""
    if not apps.is_installed("django.contrib.admin") or not getattr(settings, "ROOT_URLCONF", None):
        return []
    found = {id(site): site for site in _sites(get_resolver())}
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
    return ours and bool(plugs(SecondFactor)) and not site.login_template
