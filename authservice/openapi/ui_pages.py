"""The two pages, Swagger UI and ReDoc: their HTML, and the files that they load.

The files are those of drf-spectacular-sidecar, a package of files only, and our start scripts. They
are served below the mount, so that the host project needs no static files for them and the pages
load from no other origin.
"""

from __future__ import annotations

import gzip
from functools import cache
from importlib.resources import files
from pathlib import PurePath

from django.urls import reverse
from django.utils.html import format_html

import authservice
from authservice.kernel import errors
from authservice.kernel.sections import mount
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
