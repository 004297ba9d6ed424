"""Add our routes to the API description that a host project generates with drf-spectacular.

    SPECTACULAR_SETTINGS = {
        "POSTPROCESSING_HOOKS": [
            "drf_spectacular.hooks.postprocess_schema_enums",
            "authservice.openapi.spectacular.add_routes",
        ],
    }

The names of our components start with `Auth`, so that they do not replace components of the host
project.
"""

from __future__ import annotations

from typing import Any

from django.urls import get_script_prefix, reverse

from authservice.openapi.dialect import as_3_0
from authservice.openapi.document import describe

Schema = dict[str, Any]

_PREFIX = "Auth"
_REFERENCE = "#/components/"


def add_routes(result: Schema, **_: Any) -> Schema:
    """A postprocessing hook: adds the routes of the installed modules, with their mount path."""
    ours = _renamed(describe())
    if str(result.get("openapi", "")).startswith("3.0"):
        ours = as_3_0(ours)
    mount = "/" + reverse("authservice:nowhere").removeprefix(get_script_prefix()).strip("/")
    for path, operations in ours["paths"].items():
        result.setdefault("paths", {})[mount + path] = {
            method: {"security": ours["security"], **_named(operation)}
            for method, operation in operations.items()
        }
    for kind, entries in ours["components"].items():
        result.setdefault("components", {}).setdefault(kind, {}).update(entries)
    return result


def _named(operation: Schema) -> Schema:
    id = _ours(operation["operationId"])
    return {**operation, "operationId": id[0].lower() + id[1:]}


def _renamed(document: Schema) -> Schema:
    """The document with the prefix in the name of each component and in all references to it."""
    renamed: Schema = _references(document)
    renamed["components"] = {
        kind: {_ours(name): entry for name, entry in entries.items()}
        for kind, entries in renamed["components"].items()
    }
    return renamed


def _references(node: Any) -> Any:
    if isinstance(node, list):
        return [_references(entry) for entry in node]
    if not isinstance(node, dict):
        return node
    return {name: _reference(name, entry) for name, entry in node.items()}


def _reference(name: str, entry: Any) -> Any:
    if name == "$ref" and isinstance(entry, str):
        kind, _, component = entry.removeprefix(_REFERENCE).partition("/")
        return f"{_REFERENCE}{kind}/{_ours(component)}"
    if name == "security" and isinstance(entry, list):
        return [{_ours(scheme): scopes for scheme, scopes in item.items()} for item in entry]
    return _references(entry)


def _ours(component: str) -> str:
    return _PREFIX + component[0].upper() + component[1:]
