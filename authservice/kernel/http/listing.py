"""List endpoints: the parameters `offset`, `limit`, `sort_field`, `sort_dir` and the response."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Generic, TypedDict, TypeVar

from django.http import HttpResponse

from authservice.kernel import errors
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.operations import carries
from authservice.kernel.paging import Page
from authservice.kernel.phrases import one_of, phrase

DEFAULT_LIMIT = 20
MAX_LIMIT = 100
MAX_OFFSET = 2**31 - 1
MOST = 10**10 - 1  # the largest number a query string may contain; no table has as many rows
_TOTAL = "X-Total-Count"
_WHOLE = re.compile(r"[0-9]{1,10}")

T = TypeVar("T")


class Listing(TypedDict, Generic[T]):
    """One page of a list; `total` is the number of rows on all pages."""

    list: list[T]
    sort_field: str
    sort_dir: str
    total: int


def page(query: Mapping[str, str], sort_fields: Collection[str]) -> Page:
    """The page that a query string requests. Raises `ValidationFailed`.

    The default order is the first of `sort_fields`, descending. A limit above 100 counts as 100.
    """
    query = given(query)
    fields = list(sort_fields)
    limit = _number(query, "limit", DEFAULT_LIMIT, least=1)
    return Page(
        offset=min(_number(query, "offset", 0, least=0), MAX_OFFSET),
        limit=min(limit, MAX_LIMIT),
        sort_field=_one_of(query, "sort_field", fields, fields[0]),
        sort_dir=_one_of(query, "sort_dir", ["asc", "desc"], "desc"),
    )


def array_page(query: Mapping[str, str], sort_fields: Collection[str]) -> Page:
    """The same for a list that is answered as an array: without `limit`, it is complete."""
    asked = page(query, sort_fields)
    return asked if given(query).get("limit") else replace(asked, limit=MAX_OFFSET)


def counted(answer_type: Any) -> Any:
    """The type of such an array, for the API description."""
    return carries(_TOTAL)(answer_type)


def array(rows: list[Any], total: int) -> HttpResponse:
    """An array, with the number of rows on all pages in a header."""
    return answer(rows, headers={_TOTAL: str(total)})


def given(query: Mapping[str, str]) -> dict[str, str]:
    """The parameters of a list without the empty ones: `limit=` counts as absent."""
    return {name: value for name, value in query.items() if value}


def listing(rows: list[T], page: Page, total: int) -> Listing[T]:
    return {
        "list": rows,
        "sort_field": page.sort_field,
        "sort_dir": page.sort_dir,
        "total": total,
    }


def _number(query: Mapping[str, str], name: str, default: int, *, least: int) -> int:
    text = query.get(name)
    if text is None:
        return default
    if not _WHOLE.fullmatch(text) or int(text) < least:
        rule = phrase("Must be a whole number of at least %(least)d.", least=least)
        raise errors.invalid(name, rule)
    return int(text)


def _one_of(query: Mapping[str, str], name: str, allowed: list[str], default: str) -> str:
    text = query.get(name, default)
    if text not in allowed:
        raise errors.invalid(name, one_of(allowed))
    return text
