"""Convert the description to OpenAPI 3.0, whose schemas differ from JSON Schema."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

_NULL = {"nullable": True, "enum": [None]}


def as_3_0(node: Any) -> Any:
    """`node` without what 3.0 lacks: lists of types, the type `null`, `const`, empty `required`."""
    if isinstance(node, list):
        return [as_3_0(entry) for entry in node]
    if not isinstance(node, dict):
        return node
    kinds = node.get("type")
    if kinds == "null":
        return dict(_NULL)
    converted = {name: as_3_0(entry) for name, entry in node.items()}
    if isinstance(node.get("const"), str):
        converted["enum"] = [converted.pop("const")]
    if converted.get("required") == []:
        del converted["required"]
    return _one_type(converted, kinds) if isinstance(kinds, list) else converted


def _one_type(schema: Schema, kinds: list[str]) -> Schema:
    rest = [kind for kind in kinds if kind != "null"]
    without = {name: entry for name, entry in schema.items() if name != "type"}
    if len(rest) == 1:
        without["type"] = rest[0]
    else:
        without["anyOf"] = [{"type": kind} for kind in rest]
    return {**without, "nullable": True} if "null" in kinds else without
