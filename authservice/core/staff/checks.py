"""System checks of Django admin, its login and its pages of users, and of other login views."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.checks import CheckMessage, register
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest
from django.urls import URLPattern, URLResolver, get_resolver

from authservice.core.users.user_model import host
from authservice.kernel.checks import declare, listed, message
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
            "A login view of Django or of another package, such as django-allauth, is in the"
            " URLconf: a second factor that a user has set up here is not asked for. Django's"
            " LoginView also does not limit attempts at passwords, and does not record them.",
            "Remove it, and let LOGIN_URL name the login page of this service. If a LoginView has a"
            " form of your own that does all three, set it as authentication_form.",
        ),
    }
)

FORM = "authservice.core.staff.login_form.AdminAuthenticationForm"
TEMPLATE = "authservice/core/admin-login.html"
GUARD = "authservice.core.staff.admin_pages.SuperAdminGuard"
# Packages whose forms do not limit attempts at passwords.
_NOT_LIMITED = ("django.", "django_otp.", "wagtail.")
_LOGIN_VIEW = "django.contrib.auth.views.LoginView"
# The views by which other packages log users in. Some have limits of their own, but none asks for
# all second factors of this service.
_OTHER_LOGINS = {
    "django-allauth": re.compile(
        r"allauth\.(headless\.)?account\..*\b(LoginView|RequestLoginCodeView)"
        r"|allauth\.(headless\.)?mfa\..*\bLoginWebAuthnView"
        r"|allauth\.headless\.socialaccount\..*\bProviderTokenView"
        r"|allauth\.socialaccount\.providers\..*"
    ),
    "dj-rest-auth": re.compile(r"dj_rest_auth\..*\bLoginView"),
    "djoser": re.compile(r"djoser\..*\b(TokenCreateView|ProviderAuthView)"),
    "django-rest-knox": re.compile(r"knox\..*\bLoginView"),
    "Django REST framework": re.compile(r"rest_framework\.authtoken\..*\bObtainAuthToken"),
    "simplejwt": re.compile(
        r"rest_framework_simplejwt\..*\b(TokenObtainPairView|TokenObtainSlidingView)"
    ),
    "django-two-factor-auth": re.compile(r"two_factor\..*\bLoginView"),
    "social-auth-app-django": re.compile(r"social_django\.views\.complete"),
}
_MOST_NAMED = 3


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
            continue
        form = f"{site.login_form.__module__}.{site.login_form.__qualname__}"
        if form == FORM and plugs(SecondFactor) and not site.login_template:
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
    paths_by_package: dict[str, list[str]] = {}
    for path, callback in _views():
        names = _names_of_view(callback)
        if _LOGIN_VIEW in names:
            if _has_unlimited_form(callback):
                yield message(
                    "authservice.W118",
                    f"The page {path!r} is a LoginView of Django: it asks for no second factor,"
                    " does not limit attempts at passwords, and does not record them.",
                )
            continue
        for package, pattern in _OTHER_LOGINS.items():
            if any(map(pattern.fullmatch, names)) and not _needs_user(callback):
                paths_by_package.setdefault(package, []).append(path)
    if not plugs(SecondFactor):
        return
    for package, paths in paths_by_package.items():
        named = listed([repr(path) for path in paths], most=_MOST_NAMED)
        yield message(
            "authservice.W118",
            f"Users log in with {package} at {named}: a second factor that they have set up here is"
            " not asked for.",
            hint="Remove these routes, and let LOGIN_URL name the login page of this service,"
            " before users can set up a second factor here.",
        )


def _has_unlimited_form(callback: Any) -> bool:
    request = HttpRequest()
    request.user = AnonymousUser()  # the login view of django-otp chooses its form by it
    view = callback.view_class(**callback.view_initkwargs)
    try:
        view.setup(request)
        form = view.get_form_class()
    except Exception:
        return False  # a view of the project may need more of the request
    return bool(form.__module__.startswith(_NOT_LIMITED))


def _needs_user(callback: Any) -> bool:
    """Whether a REST view is only for users who are logged in already, other than by a password in
    the request itself."""
    view = getattr(callback, "view_class", None)
    options = getattr(callback, "view_initkwargs", {})
    permissions, authentications = (
        {name for entry in options.get(key, getattr(view, key, ())) for name in _names(entry)}
        for key in ("permission_classes", "authentication_classes")
    )
    return (
        "rest_framework.permissions.IsAuthenticated" in permissions
        and "rest_framework.authentication.BasicAuthentication" not in authentications
    )


def user_pages_without_guard(site: Any) -> list[Any]:
    return [
        page
        for model, page in site._registry.items()
        if issubclass(model, host().model) and GUARD not in _names(type(page))
    ]


def _names_of_view(callback: Any) -> list[str]:
    if view := getattr(callback, "view_class", None):
        return _names(view)
    return [f"{getattr(callback, '__module__', '')}.{getattr(callback, '__qualname__', '')}"]


def _names(candidate: Any) -> list[str]:
    """The class and its bases; none for another object, such as a combination of permissions. By
    name, since Django admin and other packages may not be imported here."""
    bases = candidate.__mro__ if isinstance(candidate, type) else ()
    return [f"{base.__module__}.{base.__qualname__}" for base in bases]


def _protected() -> list[Any]:
    """The mounted sites that do not have `W110`: its hint solves the other problems too."""
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
        views = list(_views_of(get_resolver(), ""))
    except (ImportError, ImproperlyConfigured):
        return  # Django's own check of URLs reports it
    # Of two views at the same path, Django calls only the first.
    first: dict[str, Any] = {}
    for path, callback in views:
        first.setdefault(path, callback)
    yield from first.items()


def _views_of(resolver: URLResolver, prefix: str) -> Iterator[tuple[str, Any]]:
    for entry in resolver.url_patterns:
        path = f"{prefix}{entry.pattern}"
        if isinstance(entry, URLResolver):
            yield from _views_of(entry, path)
        elif isinstance(entry, URLPattern):
            yield path, entry.callback


def _is_unprotected(site: Any) -> bool:
    """Whether the login form is that of Django or of django-otp; a form of the host project is not
    checked."""
    form = site.login_form
    return form is None or form.__module__.startswith(_NOT_LIMITED)
