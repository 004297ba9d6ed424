"""The recipe for row-level security in docs/organization.rst, as a host project copies it."""

from __future__ import annotations

import re
import textwrap
from typing import Any

from tests.hosts.runs import ROOT

_TEXT = (ROOT / "docs" / "organization.rst").read_text().partition("\nRow-level security\n")[2]


def _block(language: str) -> str:
    found = re.search(rf"code-block:: {language}\n\n((?:   .*\n|\n)+)", _TEXT)
    assert found, language
    return textwrap.dedent(found[1])


POLICY = _block("sql")
_MODULE: dict[str, Any] = {}
exec(_block("python"), _MODULE)
RowSecurityMiddleware = _MODULE["RowSecurityMiddleware"]
