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
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse

from authservice.kernel import templates
from authservice.kernel.http import origins
from authservice.kernel.http.body import FORM

_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)


def page(path: str, context: Mapping[str, Any], *, onward: str = "") -> HttpResponse:
    """The template at `path` as a page that must not be cached, framed or indexed.

    `onward` is the URL that the answer to the page's form may redirect to, if any.
    """
    html = templates.render(path, context)
    response = HttpResponse(html)
    response.headers["Cache-Control"] = "no-store"
    # The address of the page carries a token, so at most its origin is told. `no-referrer` would
    # tell less, but its forms would send `Origin: null`, as a form of another site can.
    response.headers["Referrer-Policy"] = "strict-origin"
    response.headers["X-Robots-Tag"] = "noindex"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Content-Security-Policy"] = _policy(html, onward)
    return response


def posted_elsewhere(request: HttpRequest) -> bool:
    """Whether a form comes from a page of another site.

    The browser sends the origin, and no page can change it, but any page can make it `null` (a
    sandboxed frame, `no-referrer`). Cross-site JSON needs a preflight request (Fetch standard,
    CORS), so it is never refused here.
    """
    if request.content_type != FORM:
        return False
    site = request.META.get("HTTP_SEC_FETCH_SITE", "")
    if site == "same-origin":
        return False
    if site not in ("", "none"):
        return True
    origin = request.META.get("HTTP_ORIGIN", "")  # by http, and of browsers from before 2023
    return origin != "" and not origins.is_own(origin, request)


def embedded(request: HttpRequest) -> bool:
    """Whether a page embeds a link, such as a picture, and cannot read the answer."""
    return bool(request.META.get("HTTP_SEC_FETCH_MODE") == "no-cors")


def fetched_elsewhere(request: HttpRequest) -> bool:
    """Whether a script of an origin that is not trusted requests a link: by `fetch`,
    `XMLHttpRequest` or `WebSocket`.

    It cannot read the answer, but the browser keeps its cookies. A link that a user follows has no
    `Origin`.
    """
    meta = request.META
    if origin := meta.get("HTTP_ORIGIN", ""):
        return not origins.is_trusted(origin, request)
    scripted = meta.get("HTTP_SEC_FETCH_MODE") == "cors"
    return scripted and meta.get("HTTP_SEC_FETCH_SITE", "") not in ("", "same-origin", "none")


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
