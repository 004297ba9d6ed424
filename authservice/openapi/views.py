"""Endpoints of the description, of the two pages that display it, and of their assets.

The pages load nothing from other origins, and their Content-Security-Policy enforces it: users can
send passwords from these pages.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers

from authservice.core.api.endpoint import Endpoint
from authservice.core.users import user_model
from authservice.kernel import errors
from authservice.kernel.http.operations import Raw, operation
from authservice.openapi import as_text, ui_pages
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
# The files have up to 1.5 MiB, so their requests have a limit of their own.
_SCOPE = {"fetch": "description"}
# In `Accept-Encoding`, unless its quality is 0.
_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))")


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

    def _action(self, request: HttpRequest, name: str) -> Callable[..., HttpResponse]:
        # A superuser who is logged in to Django admin.
        user = getattr(request, "user", None)
        rights = ("is_active", "is_superuser")
        if user and all(user_model.grants(user, right) for right in rights):
            self.public, self.super_admin = True, False  # type: ignore[misc]
        return super()._action(request, name)

    def _description(self, render: Callable[[dict[str, Any]], str], kind: str) -> HttpResponse:
        if _accepts_gzip(self.request):
            return _packed(as_text.packed(render), kind)
        return _vary(HttpResponse(as_text.text(render), content_type=kind))


class Yaml(_Guarded):
    path = "openapi.yaml"
    route = "schema"
    throttle_scopes: ClassVar = _SCOPE

    @operation(
        "GET",
        answer=Raw(("application/yaml",), dict[str, Any]),
        id="getSchema",
    )
    def fetch(self) -> HttpResponse:
        """Get this description as YAML"""
        return self._description(as_text.as_yaml, "application/yaml; charset=utf-8")


class Json(_Guarded):
    path = "openapi.json"
    route = "schema-json"
    throttle_scopes: ClassVar = _SCOPE

    @operation("GET", answer=Raw(body=dict[str, Any]))
    def fetch(self) -> HttpResponse:
        """Get this description as JSON"""
        return self._description(as_text.as_json, "application/json")


class _Page(_Guarded):
    def _page(self, page: str) -> HttpResponse:
        if not conf.pages:
            raise errors.NotFound
        response = HttpResponse(page, content_type="text/html; charset=utf-8")
        response.headers["Content-Security-Policy"] = _POLICY
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response


class SwaggerUI(_Page):
    path = "docs"
    route = "docs"

    @operation("GET", answer=Raw(("text/html",)), faults=(errors.NotFound,))
    def show(self) -> HttpResponse:
        """Show this description in Swagger UI"""
        return self._page(ui_pages.swagger_ui())


class Redoc(_Page):
    path = "redoc"
    route = "redoc"

    @operation("GET", answer=Raw(("text/html",)), faults=(errors.NotFound,))
    def show(self) -> HttpResponse:
        """Show this description in ReDoc"""
        return self._page(ui_pages.redoc())


class Asset(Endpoint):
    """Scripts and styles of the pages, the same for all clients."""

    path = "docs/<str:name>"
    route = "docs-asset"
    public = True
    throttle_scopes: ClassVar = _SCOPE

    @operation(
        "GET",
        answer=Raw(("text/javascript", "text/css", "image/png")),
        faults=(errors.NotFound,),
    )
    def fetch(self, name: str) -> HttpResponse:
        """Get a script or style sheet of the pages"""
        if not conf.pages:
            raise errors.NotFound
        kind, content = ui_pages.asset(name)
        if _accepts_gzip(self.request):
            response = _packed(ui_pages.packed_asset(name), kind)
        else:
            response = _vary(HttpResponse(content, content_type=kind))
        response.headers["Cache-Control"] = f"public, max-age={_DAY}"
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response


def _accepts_gzip(request: HttpRequest) -> bool:
    return bool(_GZIP.search(request.META.get("HTTP_ACCEPT_ENCODING", "")))


def _packed(content: bytes, kind: str) -> HttpResponse:
    """A compressed response. It has no secret whose length could reveal it (BREACH)."""
    response = HttpResponse(content, content_type=kind, headers={"Content-Encoding": "gzip"})
    return _vary(response)


def _vary(response: HttpResponse) -> HttpResponse:
    patch_vary_headers(response, ["Accept-Encoding"])
    return response
