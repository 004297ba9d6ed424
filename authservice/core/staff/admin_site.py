"""Protect a site of Django admin. Public: call `protect(admin.site)` in the `urls.py` that mounts
the site."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from types import MethodType
from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.auth import logout
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse

from authservice.core.staff import admin_login
from authservice.core.staff.admin_pages import SuperAdminGuard
from authservice.core.staff.checks import TEMPLATE, user_pages_without_guard
from authservice.core.staff.login_form import AdminAuthenticationForm
from authservice.core.staff.password_form import AdminPasswordChangeView, with_client
from authservice.kernel import clock


def protect(site: AdminSite) -> None:
    """Let the login and the password change of the site follow the rules of the API, log out users
    whose sessions have all ended, record the client with each password that staff set, and add
    `SuperAdminGuard` to pages of users. What you set afterwards, such as a login form of your own,
    is kept. It may be called after `site.urls` is read, as at the end of a `urls.py`."""
    site.login_form = AdminAuthenticationForm
    site.login_template = TEMPLATE
    # `AdminSite` has no attribute for the form of the password change.
    site.password_change = MethodType(_password_change, site)  # type: ignore[method-assign]
    site.admin_view = _guarded(site)  # type: ignore[method-assign]
    for page in user_pages_without_guard(site):
        # Change the class of the page instead of the page: URLs that were read before are bound to
        # its methods.
        page.__class__ = type(type(page).__name__, (SuperAdminGuard, type(page)), {})
    admin_login.connect()


def _guarded(site: AdminSite) -> Callable[..., Any]:
    """A replacement of `AdminSite.admin_view`, by which Django wraps each view of the site at each
    request."""
    admin_view = site.admin_view

    def wrapped(view: Any, cacheable: bool = False) -> Any:
        if getattr(view, "__func__", None) is AdminSite.password_change:
            view = site.password_change  # the URLs were read before this site was protected
        return _with_open_session(with_client(admin_view(view, cacheable)))

    return wrapped


def _with_open_session(view: Callable[..., Any]) -> Callable[..., Any]:
    """A view of the site that first logs out a user whose sessions have ended. Django's view then
    redirects to the login page. As in the API, the whole request has one time."""

    @clock.once
    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        if request.user.is_authenticated and admin_login.has_ended(request):
            logout(request)
        return view(request, *args, **kwargs)

    return wrapped


def _password_change(
    site: AdminSite, request: HttpRequest, extra_context: Mapping[str, Any] | None = None
) -> HttpResponseBase:
    request.current_app = site.name
    options: dict[str, Any] = {
        "success_url": reverse("admin:password_change_done", current_app=site.name),
        "extra_context": {**site.each_context(request), **(extra_context or {})},
    }
    if site.password_change_template is not None:
        options["template_name"] = site.password_change_template
    return AdminPasswordChangeView.as_view(**options)(request)
