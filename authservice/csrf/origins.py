"""Whether a request is allowed from the origin that its browser reports.

A client that sends neither `Origin` nor `Sec-Fetch-Site` is not a current browser; for it only the
token is checked.
"""

from __future__ import annotations

from authservice.csrf.conf import conf
from authservice.kernel import settings
from authservice.kernel.origins import normal
from authservice.kernel.sections import frontend, root

_SAME_ORIGIN = ("", "same-origin", "none")


def may_call(origin: str, site: str, own: str) -> bool:
    """Whether a request is from a trusted origin or from the service itself.

    `origin` and `site` are the headers `Origin` and `Sec-Fetch-Site`, or ""; `own` is the origin
    that the request was sent to.
    """
    if origin in trusted():
        return True
    return site in _SAME_ORIGIN and (not origin or origin == normal(own))


@settings.cached
def trusted() -> frozenset[str]:
    """The origins of the service, of its front end and of `CSRF.TRUSTED_ORIGINS`. Fills the slot
    `trusted_origins`."""
    urls = (root.api_url, frontend.url, *conf.trusted_origins)
    return frozenset(filter(None, map(normal, urls)))
