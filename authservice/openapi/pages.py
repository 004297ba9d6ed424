"""The HTML of the two pages, Swagger UI and ReDoc: style sheet, bundle and start script."""

from __future__ import annotations

from django.urls import reverse
from django.utils.html import format_html

import authservice
from authservice.openapi.conf import conf

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
<div id="page" data-schema="{schema}"></div>
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
        bundle=bundle,
        start=start,
        version=authservice.__version__,
    )
