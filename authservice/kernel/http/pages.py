"""The pages of mailed links: plain HTML without a script, whose buttons post a form.

Mail scanners open every link, often as a browser does, so a GET must change nothing; a person
presses the button. Another site must not submit the form for its visitors, so a cross-site form is
refused. Each page extends `authservice/pages/base.html`, which a host may replace.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse

from authservice.kernel import templates
from authservice.kernel.http.body import FORM
from authservice.kernel.sections import root

_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)


def page(path: str, context: Mapping[str, Any], *, onward: str = "") -> HttpResponse:
    """The template at `path` as a page that must not be cached, framed or indexed.

    `onward` is the URL that the answer to the page's form may redirect to, if any.
    """
    html = templates.render(path, context)
    response = HttpResponse(html)
    response.headers["Cache-Control"] = "no-store"
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Robots-Tag"] = "noindex"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Content-Security-Policy"] = _policy(html, onward)
    return response


def posted_elsewhere(request: HttpRequest) -> bool:
    """Whether a form comes from a page of another site.

    The browser sends the origin, and no page can change it. Cross-site JSON needs a preflight
    request (Fetch standard, CORS), so it is never refused here. Our own pages send no referrer, and
    so `Origin: null`.
    """
    if request.content_type != FORM:
        return False
    site = request.META.get("HTTP_SEC_FETCH_SITE", "")
    if site:
        return site not in ("same-origin", "none")
    origin = request.META.get("HTTP_ORIGIN", "")  # of browsers from before 2023
    return origin not in ("", "null", *_own_origins(request))


def embedded(request: HttpRequest) -> bool:
    """Whether a page embeds a link, such as a picture, and cannot read the answer."""
    return bool(request.META.get("HTTP_SEC_FETCH_MODE") == "no-cors")


def _own_origins(request: HttpRequest) -> list[str]:
    own = [_origin(root.api_url)]
    with suppress(DisallowedHost):
        own.append(f"{request.scheme}://{request.get_host()}")
    return own


def _policy(html: str, onward: str) -> str:
    """Allow inline styles by their digest. Browsers also check the redirect after a form against
    `form-action`."""
    styles = "".join(f" 'sha256-{_digest(style)}'" for style in _STYLE.findall(html))
    return (
        f"default-src 'none'; style-src 'self'{styles}; img-src 'self' data:;"
        f" form-action 'self' {_origin(onward)}; frame-ancestors 'none'; base-uri 'none'"
    )


def _digest(style: str) -> str:
    return base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}" if url else ""
