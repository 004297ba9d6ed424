"""Endpoints of the description, of the pages Swagger UI and ReDoc that display it, and of their
files.

The files are those of drf-spectacular-sidecar, a package of files only, and our start scripts. They
are served below the mount, so that the host project needs no static files for them and the pages
load from no other origin.

The pages load nothing from other origins, and their Content-Security-Policy enforces it: users can
send passwords from these pages.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import PurePath
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.html import format_html

import authservice
from authservice.core.api.endpoint import Endpoint
from authservice.core.users import user_model
from authservice.kernel import errors
from authservice.kernel.http.operations import Raw, operation
from authservice.kernel.sections import mount
from authservice.openapi import as_text
from authservice.openapi.conf import conf
from authservice.openapi.routes import guard_headers

# By the name below the mount: the path in the sidecar.
_BUNDLED = {
    "swagger-ui.css": "swagger-ui-dist/swagger-ui.css",
    "swagger-ui-bundle.js": "swagger-ui-dist/swagger-ui-bundle.js",
    "favicon.png": "swagger-ui-dist/favicon-32x32.png",
    "redoc.standalone.js": "redoc/bundles/redoc.standalone.js",
}
_OWN = ("swagger-ui-start.js", "redoc-start.js")
_MEDIA_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".png": "image/png",
}
# A logo that the ReDoc bundle would load from the server of its authors.
_EXTERNAL_LOGO = b"https://cdn.redoc.ly/redoc/logo-mini.svg"
_EMPTY_IMAGE = b"data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22/%3E"
_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="{base}favicon.png">
{styles}
</head>
<body>
<div id="page" data-schema="{schema}" data-guard="{guard}" data-token="{token}"></div>
<script src="{base}{bundle}?v={version}"></script>
<script src="{base}{start}?v={version}"></script>
</body>
</html>
"""


def swagger_ui() -> str:
    return _page("swagger-ui-bundle.js", "swagger-ui-start.js", "swagger-ui.css")


def redoc() -> str:
    return _page("redoc.standalone.js", "redoc-start.js")


def _page(bundle: str, start: str, style: str = "") -> str:
    base = reverse("authservice:docs") + "/"
    link = '<link rel="stylesheet" href="{}{}?v={}">'
    return format_html(
        _PAGE,
        title=conf.title,
        base=base,
        styles=format_html(link, base, style, authservice.__version__) if style else "",
        schema=reverse("authservice:schema-json"),
        guard=next(iter(guard_headers()), ""),
        # Not by `reverse`: the app that has this route may not be installed.
        token=mount() + "csrf-token",
        bundle=bundle,
        start=start,
        version=authservice.__version__,
    )


@cache
def packed_asset(name: str) -> bytes:
    """The content of a file that a page loads, compressed with gzip."""
    return gzip.compress(asset(name)[1])


def asset(name: str) -> tuple[str, bytes]:
    """Media type and content of a file that a page loads. Raises `NotFound`."""
    if name in _OWN:
        file = files("authservice.openapi") / "scripts" / name
    elif name in _BUNDLED:
        static = files("drf_spectacular_sidecar") / "static" / "drf_spectacular_sidecar"
        file = static / _BUNDLED[name]
    else:
        raise errors.NotFound
    content = file.read_bytes().replace(_EXTERNAL_LOGO, _EMPTY_IMAGE)
    return _MEDIA_TYPES[PurePath(name).suffix], content


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
        return self._page(swagger_ui())


class Redoc(_Page):
    path = "redoc"
    route = "redoc"

    @operation("GET", answer=Raw(("text/html",)), faults=(errors.NotFound,))
    def show(self) -> HttpResponse:
        """Show this description in ReDoc"""
        return self._page(redoc())


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
        kind, content = asset(name)
        if _accepts_gzip(self.request):
            response = _packed(packed_asset(name), kind)
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
