"""Files that the pages load: those of drf-spectacular-sidecar, and our two start scripts.

They are served below the mount, so that the host project needs no static files for them and the
pages load from no other origin.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from authservice.kernel import errors

_SIDECAR = "static/drf_spectacular_sidecar/"
_OWN = {
    "swagger-ui-start.js": "text/javascript; charset=utf-8",
    "redoc-start.js": "text/javascript; charset=utf-8",
}
_BUNDLED = {
    "swagger-ui.css": ("swagger-ui-dist/swagger-ui.css", "text/css; charset=utf-8"),
    "swagger-ui-bundle.js": (
        "swagger-ui-dist/swagger-ui-bundle.js",
        "text/javascript; charset=utf-8",
    ),
    "favicon.png": ("swagger-ui-dist/favicon-32x32.png", "image/png"),
    "redoc.standalone.js": (
        "redoc/bundles/redoc.standalone.js",
        "text/javascript; charset=utf-8",
    ),
}
# A logo that the ReDoc bundle would load from the server of its authors.
_EXTERNAL_LOGO = b"https://cdn.redoc.ly/redoc/logo-mini.svg"
_EMPTY_IMAGE = b"data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22/%3E"


@cache
def read(name: str) -> tuple[str, bytes]:
    """Media type and content of a file. Raises `NotFound`."""
    if name in _OWN:
        return _OWN[name], (files("authservice.openapi") / "scripts" / name).read_bytes()
    if name not in _BUNDLED:
        raise errors.NotFound
    path, kind = _BUNDLED[name]
    content = (files("drf_spectacular_sidecar") / _SIDECAR / path).read_bytes()
    return kind, content.replace(_EXTERNAL_LOGO, _EMPTY_IMAGE)
