"""Files that the pages load: those of the sidecar, and two scripts of our own that start them.

They are served from below the mount, so that a host needs no static files for them and a page needs
no origin but its own.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from authservice.kernel import errors

_SIDECAR = "static/drf_spectacular_sidecar/"
_OURS = {
    "swagger-ui-start.js": "text/javascript; charset=utf-8",
    "redoc-start.js": "text/javascript; charset=utf-8",
}
_THEIRS = {
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
# A picture that the bundle would fetch from its makers' server, to be shown beside their name.
_FOREIGN = b"https://cdn.redoc.ly/redoc/logo-mini.svg"
_EMPTY_PICTURE = b"data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22/%3E"


@cache
def read(name: str) -> tuple[str, bytes]:
    """Media type and content of a file. Raises `NotFound`."""
    if name in _OURS:
        return _OURS[name], (files("authservice.openapi") / "scripts" / name).read_bytes()
    if name not in _THEIRS:
        raise errors.NotFound
    path, kind = _THEIRS[name]
    content = (files("drf_spectacular_sidecar") / _SIDECAR / path).read_bytes()
    return kind, content.replace(_FOREIGN, _EMPTY_PICTURE)
