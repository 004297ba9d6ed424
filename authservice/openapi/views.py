"""The description, two pages that show it, and what those pages load.

A page loads nothing from elsewhere, and its policy lets it load nothing from elsewhere: what it
shows are the routes that take passwords.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse

from authservice.kernel import errors
from authservice.kernel.http.operations import Raw, operation
from authservice.kernel.http.views import Endpoint
from authservice.openapi import assets, pages, rendering
from authservice.openapi.conf import conf
from authservice.openapi.document import text

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
        # Both pages write styles into the document they build.
        "style-src 'self' 'unsafe-inline'",
        # The search of ReDoc runs in a worker made of its own bundle.
        "worker-src 'self' blob:",
    )
)
_DAY = 24 * 3600


class _While:
    """A flag of a view that is true while the host gives this access, on the class as well."""

    def __init__(self, access: str) -> None:
        self.access = access

    def __get__(self, *_: object) -> bool:
        return conf.access == self.access


class _Guarded(Endpoint):
    """Open to everyone or to super admins, as the host decided."""

    public = _While("everyone")
    super_admin = _While("super_admins")

    def _action(self, request: HttpRequest) -> Callable[..., HttpResponse]:
        if _in_admin(request):
            self.public, self.super_admin = True, False  # type: ignore[misc]
        return super()._action(request)


class Yaml(_Guarded):
    @operation(
        "This description, in YAML",
        answer=Raw(("application/yaml",), dict[str, Any]),
        id="getSchema",
    )
    def fetch(self) -> HttpResponse:
        return _plain(text(rendering.as_yaml), "application/yaml; charset=utf-8")


class Json(_Guarded):
    @operation("This description, in JSON", answer=Raw(body=dict[str, Any]))
    def fetch(self) -> HttpResponse:
        return _plain(text(rendering.as_json), "application/json")


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
        "This description in Swagger UI", answer=Raw(("text/html",)), faults=(errors.NotFound,)
    )
    def show(self) -> HttpResponse:
        return self._page(pages.swagger_ui())


class Redoc(_Page):
    @operation("This description in ReDoc", answer=Raw(("text/html",)), faults=(errors.NotFound,))
    def show(self) -> HttpResponse:
        return self._page(pages.redoc())


class Asset(Endpoint):
    """Scripts and styles of the pages, the same for everybody."""

    public = True

    @operation(
        "A script or style of the pages",
        answer=Raw(("text/javascript", "text/css", "image/png")),
        faults=(errors.NotFound,),
    )
    def fetch(self, name: str) -> HttpResponse:
        if not conf.pages:
            raise errors.NotFound
        kind, content = assets.read(name)
        response = HttpResponse(content, content_type=kind)
        response.headers["Cache-Control"] = f"public, max-age={_DAY}"
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response


def _plain(body: str, content_type: str) -> HttpResponse:
    response = HttpResponse(body, content_type=content_type)
    response.headers["Cache-Control"] = "no-store"
    return response


def _in_admin(request: HttpRequest) -> bool:
    """Whether the request comes from a super user who is signed in to Django admin."""
    user = getattr(request, "user", None)
    return bool(user and user.is_active and getattr(user, "is_superuser", False))
