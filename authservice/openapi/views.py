"""Endpoints of the description, of the two pages that display it, and of their assets.

The pages load nothing from other origins, and their Content-Security-Policy enforces it: users can
send passwords from these pages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse

from authservice.core.api.endpoint import Endpoint
from authservice.kernel import errors
from authservice.kernel.http.operations import Raw, operation
from authservice.openapi import pages, rendering
from authservice.openapi.conf import conf

_POLICY = "; ".join(
    (
        "default-src 'none'",
        "base-uri 'none'",
        "connect-src 'self'",
        "font-src 'self' data:",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "img-src 'self' data:",
        "script-src 'self'",
        # Both pages insert inline styles.
        "style-src 'self' 'unsafe-inline'",
        # The search of ReDoc runs in a worker that its bundle creates from a blob.
        "worker-src 'self' blob:",
    )
)
_DAY = 24 * 3600


class _IfAccess:
    """A flag of a view that is true if `OPENAPI.ACCESS` has this value; also works on the class."""

    def __init__(self, access: str) -> None:
        self.access = access

    def __get__(self, *_: object) -> bool:
        return conf.access == self.access


class _Guarded(Endpoint):
    """Public or for super admins only, according to `OPENAPI.ACCESS`."""

    public = _IfAccess("everyone")
    super_admin = _IfAccess("super_admins")

    def _action(self, request: HttpRequest) -> Callable[..., HttpResponse]:
        if _in_admin(request):
            self.public, self.super_admin = True, False  # type: ignore[misc]
        return super()._action(request)


class Yaml(_Guarded):
    @operation(
        "Get this description as YAML",
        answer=Raw(("application/yaml",), dict[str, Any]),
        id="getSchema",
    )
    def fetch(self) -> HttpResponse:
        return _plain(rendering.text(rendering.as_yaml), "application/yaml; charset=utf-8")


class Json(_Guarded):
    @operation("Get this description as JSON", answer=Raw(body=dict[str, Any]))
    def fetch(self) -> HttpResponse:
        return _plain(rendering.text(rendering.as_json), "application/json")


class _Page(_Guarded):
    def _page(self, page: str) -> HttpResponse:
        if not conf.pages:
            raise errors.NotFound
        response = _plain(page, "text/html; charset=utf-8")
        response.headers["Content-Security-Policy"] = _POLICY
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response


class SwaggerUI(_Page):
    @operation(
        "Show this description in Swagger UI", answer=Raw(("text/html",)), faults=(errors.NotFound,)
    )
    def show(self) -> HttpResponse:
        return self._page(pages.swagger_ui())


class Redoc(_Page):
    @operation(
        "Show this description in ReDoc", answer=Raw(("text/html",)), faults=(errors.NotFound,)
    )
    def show(self) -> HttpResponse:
        return self._page(pages.redoc())


class Asset(Endpoint):
    """Scripts and styles of the pages, the same for all clients."""

    public = True

    @operation(
        "Get a script or style sheet of the pages",
        answer=Raw(("text/javascript", "text/css", "image/png")),
        faults=(errors.NotFound,),
    )
    def fetch(self, name: str) -> HttpResponse:
        if not conf.pages:
            raise errors.NotFound
        kind, content = pages.asset(name)
        response = HttpResponse(content, content_type=kind)
        response.headers["Cache-Control"] = f"public, max-age={_DAY}"
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response


def _plain(body: str, content_type: str) -> HttpResponse:
    response = HttpResponse(body, content_type=content_type)
    response.headers["Cache-Control"] = "no-store"
    return response


def _in_admin(request: HttpRequest) -> bool:
    """Whether the caller is a superuser who is logged in to Django admin."""
    user = getattr(request, "user", None)
    return bool(user and user.is_active and getattr(user, "is_superuser", False))
