"""CSRF protection for views of the host project, with the token and the rules of the API. A form
with Django's own token is accepted too, so that Django admin and forms of templates work.

Add `authservice.csrf.middleware.CsrfMiddleware` to `MIDDLEWARE`. The routes of authservice check
the token themselves. Django's `csrf_exempt` has no effect here, because every view of Django REST
framework is marked with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

from authservice.core.api.callers import (
    CHECKED,
    SAFE_METHODS,
    by_cookie,
    has_bearer,
    has_foreign_token,
    passes_django,
)
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.token_cookies import access_session_of
from authservice.csrf.conf import conf
from authservice.csrf.guard import guard
from authservice.kernel import errors
from authservice.kernel.http import envelope

View = TypeVar("View", bound=Callable[..., Any])


def exempt(view: View) -> View:
    """Decorator: do not check this view of the host project. Also for what `as_view()` returns."""
    view.authservice_csrf_exempt = True  # type: ignore[attr-defined]
    return view


class CsrfMiddleware(MiddlewareMixin):
    """Answers a forged request with 403 `INVALID_CSRF` in the envelope."""

    def __init__(self, get_response: Any) -> None:
        super().__init__(get_response)
        if not apps.is_installed("authservice.csrf"):
            raise ImproperlyConfigured(
                "CsrfMiddleware requires 'authservice.csrf' in INSTALLED_APPS."
            )

    def process_view(
        self, request: HttpRequest, view: Any, args: Any, kwargs: Any
    ) -> HttpResponse | None:
        if request.method in SAFE_METHODS or _is_exempt(request.path, view):
            return None
        if passes_django(request):
            return None
        try:
            # A token of another issuer does not count: Django's session, which is a cookie,
            # identifies the user then.
            bearer = has_bearer(request) and not has_foreign_token(request)
            session_id = access_session_of(request) if by_cookie(request) else None
            guard.check(request, session_id, bearer=bearer)
        except errors.InvalidCsrf as fault:
            return envelope.refusal(fault)
        request.__dict__[CHECKED] = True
        return None

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        # As in the routes of authservice: no cookies for a client that the guard accepted without a
        # CSRF token because it is not a browser.
        if envelope.cookies_are_unwanted(request):
            response.cookies.clear()
        return response


def _is_exempt(path: str, view: Any) -> bool:
    if getattr(view, "authservice_csrf_exempt", False):
        return True
    view_class = getattr(view, "cls", None)
    if isinstance(view_class, type) and issubclass(view_class, Endpoint):
        return True
    return any(
        path == prefix or path.startswith(f"{prefix.rstrip('/')}/") for prefix in conf.exempt_paths
    )
