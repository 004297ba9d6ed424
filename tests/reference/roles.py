"""The page of roles in organizations, from the table in `organization/roles.py`."""

from __future__ import annotations

from collections.abc import Iterator

from authservice.organization.roles import rows, table
from tests.reference import rst

INTRO = """
You want to know what the members of an organization may do: read this table. The routes ask this
very table, and a test compares every cell with them. Every member may leave, except for the last
owner, who can neither leave nor be removed nor get another role. ``ORGANIZATION.ROLES`` adds roles
of the project; the table is that of a project without any. The page on organizations has the rest.
"""
_GAP = "  "


def page() -> str:
    return rst.page("Roles in organizations", INTRO, [_table()])


def _table() -> str:
    """A simple table; a cell is "yes" or "no"."""
    body = [(text, *("yes" if has else "no" for has in cells)) for text, cells in rows()]
    head = ("Permission", *table())
    widths = [max(len(row[at]) for row in (head, *body)) for at in range(len(head))]
    line = _GAP.join("=" * width for width in widths)
    return "\n".join([line, _row(head, widths), line, *(_row(row, widths) for row in body), line])


def _row(cells: tuple[str, ...], widths: list[int]) -> str:
    return _GAP.join(_padded(cells, widths)).rstrip()


def _padded(cells: tuple[str, ...], widths: list[int]) -> Iterator[str]:
    return (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
