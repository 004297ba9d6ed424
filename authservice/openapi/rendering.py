"""The description as JSON or YAML text."""

from __future__ import annotations

import json
from typing import Any


def as_json(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def as_yaml(document: dict[str, Any]) -> str:
    # Imported here, because the optional dependency may be missing; a system check reports that.
    from drf_spectacular.renderers import OpenApiYamlRenderer

    text: bytes = OpenApiYamlRenderer().render(document)  # type: ignore[no-untyped-call]
    return text.decode()
