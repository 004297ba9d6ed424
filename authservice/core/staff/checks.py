"""System checks of Django admin, its login and its pages of users, and of Django's other login."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, register
from django.core.exceptions import ImproperlyConfigured
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
        "authservice.W118": (
            "A page of Django's LoginView is in the URLconf: it asks for no second factor, does not"
            " limit attempts at passwords, and does not record them.",
            "Remove it, and let LOGIN_URL name the login page of this service. If the view has a"
            " form of your own that does all three, set it as authentication_form.",
        ),
    }
)

FORM = "authservice.core.staff.login_form.AdminAuthenticationForm"
TEMPLATE = "authservice/core/admin-login.html"
GUARD = "authservice.core.staff.admin_pages.SuperAdminGuard"
_NOT_LIMITED = ("django.", "django_otp.")
_LOGIN_VIEW = "django.contrib.auth.views.LoginView"


def connect() -> None:
    for check in (check_admin_login, check_password_change, check_user_pages, check_login_views):
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


def check_login_views(**_: Any) -> Iterator[CheckMessage]:
    for path, callback in _views():
        view = getattr(callback, "view_class", None)
        if not isinstance(view, type) or _LOGIN_VIEW not in _names(view):
            continue
        form = view(**callback.view_initkwargs).get_form_class()
        if form.__module__.startswith(_NOT_LIMITED):
            yield message(
                "authservice.W118",
                f"The page {path!r} is a LoginView of Django: it asks for no second factor, does"
                " not limit attempts at passwords, and does not record them.",
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
    if not apps.is_installed("django.contrib.admin"):
        return []
    sites = (getattr(callback, "admin_site", None) for _, callback in _views())
    return list({id(site): site for site in sites if site is not None}.values())


def _views() -> Iterator[tuple[str, Any]]:
    """Every view of the URLconf, with the pattern of its path."""
    if not getattr(settings, "ROOT_URLCONF", None):
        return
    try:
        found = list(_views_of(get_resolver(), ""))
    except (ImportError, ImproperlyConfigured):
        return  # Django's own check of URLs reports it
    yield from found


def _views_of(resolver: URLResolver, prefix: str) -> Iterator[tuple[str, Any]]:
    for entry in resolver.url_patterns:
        path = f"{prefix}{entry.pattern}"
        if isinstance(entry, URLResolver):
            yield from _views_of(entry, path)
        elif isinstance(entry, URLPattern):
            yield path, entry.callback


def _is_unprotected(site: Any) -> bool:
    """Whether the form is Django's or that of django-otp; a host's own form is not checked."""
    form = site.login_form
    return form is None or form.__module__.startswith(_NOT_LIMITED)


def _has_no_field_for_codes(site: Any) -> bool:
    ours = f"{site.login_form.__module__}.{site.login_form.__qualname__}" == FORM
    return ours and bool(plugs(SecondFactor)) and not site.login_template
