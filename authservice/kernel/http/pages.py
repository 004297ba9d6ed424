"""Pages that e-mailed links open: plain HTML, with buttons that submit a form.

Mail scanners open every link, often like a browser, so a GET request must not change anything: the
user presses a button. Another site must not submit the form on behalf of its visitors, so
cross-site forms are rejected. Each page extends `authservice/pages/base.html`, which a host project
may replace.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse

from authservice.kernel import languages, templates
from authservice.kernel.http import incoming
from authservice.kernel.http.incoming import FORM
from authservice.kernel.link_pages import LinkPages
from authservice.kernel.modules import plug

_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)


def page(
    path: str, context: Mapping[str, Any], *, onward: str = "", status: int = 200
) -> HttpResponse:
    """Render the template at `path` as a page that must not be framed or indexed.

    `onward` is the URL that the response to the page's form may redirect to, if there is one. The
    variable `script` of the template, if there is one, is the only script that the page may run.
    """
    link_pages = plug(LinkPages)
    brand = link_pages.brand() if link_pages else {}
    html = templates.render(path, {"brand": brand, **context})
    # Inline styles are allowed by their digest. Browsers also check the redirect after a form
    # against `form-action`, so it includes the origin of `onward`.
    styles = "".join(f" 'sha256-{_digest(style)}'" for style in _STYLE.findall(html))
    # The digest is that of our own script, never of scripts in the rendered page: otherwise, a
    # script in the name of a user would be allowed too.
    script = str(context.get("script", ""))
    scripts = f" script-src 'sha256-{_digest(script)}';" if script else ""
    policy = (
        f"default-src 'none';{scripts} style-src 'self'{styles};"
        f" img-src 'self' data: {_origin(brand.get('logo_url', ''))}; font-src 'self';"
        f" form-action 'self' {_origin(onward)}; frame-ancestors 'none'; base-uri 'none'"
    )
    response = HttpResponse(html, status=status)
    # The URL of the page contains a token, so the browser may send at most its origin. The stricter
    # `no-referrer` would make the page's own form send `Origin: null`, as other sites can.
    response.headers["Referrer-Policy"] = "strict-origin"
    response.headers["X-Robots-Tag"] = "noindex"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Content-Security-Policy"] = policy
    languages.label(response, page=True)
    return response


def posted_elsewhere(request: HttpRequest) -> bool:
    """Whether a page of another site submitted the form.

    The browser sets the `Origin` header. A page cannot forge another origin, but any page can make
    it `null` (sandboxed frame, `no-referrer`). Cross-site JSON requires a preflight request (Fetch
    standard, CORS), so this check does not apply to it.
    """
    if request.content_type != FORM:
        return False
    site = request.META.get("HTTP_SEC_FETCH_SITE", "")
    if site == "same-origin":
        return False
    if site not in ("", "none"):
        return True
    # Over plain HTTP, and before 2023, browsers send no `Sec-Fetch-Site`.
    origin = request.META.get("HTTP_ORIGIN", "")
    return origin != "" and not incoming.is_own(origin, request)


def posted_here(request: HttpRequest) -> bool:
    """Whether the browser says that a page of this site submitted the form.

    This is not the opposite of `posted_elsewhere`: if the browser sends neither `Sec-Fetch-Site`
    nor `Origin`, both are false.
    """
    site = request.META.get("HTTP_SEC_FETCH_SITE", "")
    if site:
        return bool(site == "same-origin")
    return incoming.is_own(request.META.get("HTTP_ORIGIN", ""), request)


def fetched_elsewhere(request: HttpRequest) -> bool:
    """Whether a script of an untrusted origin requests the link: by `fetch`, `XMLHttpRequest` or
    `WebSocket`.

    The script cannot read the response, but the browser stores its cookies. If a user follows a
    link, the browser sends no `Origin` header.
    """
    meta = request.META
    if origin := meta.get("HTTP_ORIGIN", ""):
        return not incoming.is_trusted(origin, request)
    scripted = meta.get("HTTP_SEC_FETCH_MODE") == "cors"
    return scripted and meta.get("HTTP_SEC_FETCH_SITE", "") not in ("", "same-origin", "none")


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""
