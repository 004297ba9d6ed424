"""The page of errors: every code that the API answers, and the routes that answer it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby

from authservice.kernel.errors import Fault, catalogue
from authservice.openapi import refusals
from authservice.openapi.routes import Route, routes
from tests.reference import rst

INTRO = """
You want to know what an error code means: search this page for it. An error has the status of its
code, and this body:

.. code-block:: json

   {"data": {"code": "TOKEN_EXPIRED", "message": "…"}, "message": "…"}

A program compares the code: codes do not change within a major version, messages may. A code with
two statuses has two entries. The routes are those of a service with every module installed. Each
code has an anchor of its own, such as ``#error-token-expired``.
"""
_Name = tuple[int, str]


def page() -> str:
    return rst.page("Errors", INTRO, [_by_status(), *_codes()])


def _by_status() -> str:
    """The codes of each status, with links to their entries."""
    found: dict[int, list[str]] = defaultdict(list)
    for fault in catalogue():
        found[fault.status].append(rst.link(fault.code, rst.anchor("error", fault.code)))
    return rst.fields({str(status): ", ".join(found[status]) for status in sorted(found)})


def _codes() -> Iterator[str]:
    answering = _routes_by_error()
    for code, faults in groupby(catalogue(), key=lambda fault: fault.code):
        body = "\n\n".join(_entry(fault, answering[fault.status, fault.code]) for fault in faults)
        yield rst.entry(rst.anchor("error", code), rst.literal(code), body)


def _entry(fault: type[Fault], routes: set[str]) -> str:
    return rst.fields(
        {
            "Status": str(fault.status),
            "Message": rst.prose(fault.message),
            "When": rst.prose(fault.cause),
            "What to do": rst.prose(fault.remedy),
            "Routes": in_words(routes),
        }
    )


def _routes_by_error() -> dict[_Name, set[str]]:
    found: dict[_Name, set[str]] = defaultdict(set)
    for route in routes():
        if route.operation:
            for fault in refusals.faults(route, route.operation):
                found[fault.status, fault.code].add(_named(route))
    return found


def _named(route: Route) -> str:
    return f"{route.method.upper()} {route.path}"


def in_words(answering: set[str]) -> str:
    """The largest kind of routes that all answer the error, and the others by name; for most routes
    those that do not."""
    kinds = _kinds()
    for words, members in kinds.items():
        if members <= answering:
            rest = answering - members
            return f"{words}{', and ' if rest else ''}{_listed(rest)}"
    others = kinds["every route"] - answering
    if len(others) < len(answering):
        return f"every route except {_listed(others)}"
    return _listed(answering)


def _listed(names: set[str]) -> str:
    by_path = sorted(names, key=lambda name: name.split()[::-1])
    return ", ".join(map(rst.literal, by_path))


def _kinds() -> dict[str, set[str]]:
    """Names for kinds of routes, the largest kind first."""
    known = routes()
    kinds = {
        "every route": known,
        "every route for signed-in users": [one for one in known if not one.public],
        "every route that takes a body": [one for one in known if one.takes_body],
        "every route that takes a body, except forms of mailed links": [
            one for one in known if one.guarded
        ],
        "every route of super admins": [one for one in known if one.view.super_admin],
    }
    return {words: {_named(route) for route in members} for words, members in kinds.items()}
