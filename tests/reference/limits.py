"""The page of limits on messages, from the table in `core/messages/limits.py`."""

from __future__ import annotations

from collections.abc import Iterator

from authservice.core.messages.limits import LIMITS, Limit
from authservice.kernel.throttling import RATES
from tests.reference import rst
from tests.reference.settings import span

INTRO = """
You want to know how often something may be done, or to change it: find the limit here. Limits on
requests are settings, for example 60 sign-ups an hour for a network:

.. code-block:: python

   AUTHSERVICE["THROTTLE"] = AUTHSERVICE.get("THROTTLE", {}) | {"RATES": {"signup": "60/h"}}

There are limits on messages and on requests. Limits on attempts at passwords and codes are separate
and always apply: see "Limits" in `REST API <../api.rst>`__.

Every e-mail and every SMS is checked against each limit that applies to it. Beyond a limit the
response stays the same, and nothing is sent. ``THROTTLE.ENABLED`` turns all of them off.
"""
# What each rate counts.
REQUESTS = {
    "default": "requests of a network to all routes, or of an account from a known device",
    "signup": "sign-ups from a network, also refused ones and those by a provider",
    "refresh": "refreshes of a session",
    "guess": "failed logins and wrong codes from a network",
    "is-available": "requests of a network to ``/is-available``",
    "auto-register": "accounts that magic links create for a network",
    "description": "requests of the API description and of the files of its pages, from a network",
    "oauth-native": "requests of apps to log in with a token of a provider, from a network",
    "org-create": "requests of an account to create an organization",
}


def page() -> str:
    return rst.page("Limits", INTRO, [*_entries(), *_rates()])


def _rates() -> Iterator[str]:
    for name, rate in RATES.items():
        facts = {"Requests": REQUESTS[name], "Setting": f'``THROTTLE.RATES["{name}"]``'}
        body = rst.fields({**facts, "At most": rst.literal(rate)})
        yield rst.entry(rst.anchor("rate", name), f"{rst.literal(name)} (requests)", body)


def _entries() -> Iterator[str]:
    for limit in LIMITS:
        yield rst.entry(rst.anchor("limit", limit.name), rst.literal(limit.name), _facts(limit))


def _facts(limit: Limit) -> str:
    return rst.fields(
        {
            "Messages": limit.messages,
            "Counted for each": limit.counted_for,
            "At most": f"{limit.amount} in {span(limit.window)}",
        }
    )
