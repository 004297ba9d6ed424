"""List endpoints: the parameters `offset`, `limit`, `sort_field`, `sort_dir` and the response."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Annotated, Any, Generic, TypedDict, TypeVar

from django.http import HttpResponse
from rest_framework import serializers

from authservice.kernel import errors
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.fields import Choice
from authservice.kernel.http.operations import Is, Named, carries
from authservice.kernel.interfaces import Page
from authservice.kernel.languages import one_of, phrase

DEFAULT_LIMIT = 20
MAX_LIMIT = 100
MAX_OFFSET = 2**31 - 1
MAX_NUMBER = 10**10 - 1  # the largest in a query string (`_WHOLE`); no table has as many rows
_TOTAL = "X-Total-Count"
_DIRECTIONS = ("asc", "desc")
_WHOLE = re.compile(r"[0-9]{1,10}")

T = TypeVar("T")


class Listing(TypedDict, Generic[T]):
    """One page of a list; `total` is the number of rows on all pages."""

    list: list[T]
    sort_field: str
    sort_dir: Annotated[str, Is(enum=list(_DIRECTIONS)), Named("SortDirection")]
    total: int


class SortDirection(Choice):
    """The parameter `sort_dir`."""

    def __init__(self) -> None:
        super().__init__(
            _DIRECTIONS, component="SortDirection", required=False, default=_DIRECTIONS[-1]
        )


class ArrayQuery(serializers.Serializer[Any]):
    """The parameters of an array, declared for the API description."""

    offset = serializers.IntegerField(required=False, min_value=0, max_value=MAX_NUMBER, default=0)
    limit = serializers.IntegerField(
        required=False, min_value=1, max_value=MAX_NUMBER, default=MAX_LIMIT
    )


def page(query: Mapping[str, str], sort_fields: Collection[str]) -> Page:
    """The page that a query string requests. Raises `ValidationFailed`.

    The default order is the first of `sort_fields`, descending. A limit above 100 counts as 100.
    """
    query = without_empty(query)
    fields = list(sort_fields)
    limit = _number(query, "limit", DEFAULT_LIMIT, least=1)
    return Page(
        offset=min(_number(query, "offset", 0, least=0), MAX_OFFSET),
        limit=min(limit, MAX_LIMIT),
        sort_field=_one_of(query, "sort_field", fields, fields[0]),
        sort_dir=_one_of(query, "sort_dir", list(_DIRECTIONS), _DIRECTIONS[-1]),
    )


def array_page(query: Mapping[str, str], sort_fields: Collection[str]) -> Page:
    """As `page`, for a list whose response is an array: the default is the largest page, since
    clients without `limit` expect the whole list."""
    requested = page(query, sort_fields)
    return requested if without_empty(query).get("limit") else replace(requested, limit=MAX_LIMIT)


def array_part(query: Mapping[str, str]) -> Page:
    """As `array_page`, for an array whose order is fixed: `sort_field` of the page is empty."""
    limits = {name: query[name] for name in ("offset", "limit") if name in query}
    return array_page(limits, ("",))


def counted(answer_type: Any) -> Any:
    """The type of an array whose response has the header of `array`, for the API description."""
    return carries(_TOTAL)(answer_type)


def array(rows: list[Any], total: int) -> HttpResponse:
    """An array, with the number of rows on all pages in a header."""
    return answer(rows, headers=total_of(total))


def total_of(total: int) -> dict[str, str]:
    """The header with the number of rows on all pages."""
    return {_TOTAL: str(total)}


def without_empty(query: Mapping[str, str]) -> dict[str, str]:
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
