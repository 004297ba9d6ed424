"""The description as text."""

from __future__ import annotations

import json
from typing import Any


def as_json(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def as_yaml(document: dict[str, Any]) -> str:
    # Here, not above: the extra may be missing, and then a system check says so.
    from drf_spectacular.renderers import OpenApiYamlRenderer

    text: bytes = OpenApiYamlRenderer().render(document)  # type: ignore[no-untyped-call]
    return text.decode()
