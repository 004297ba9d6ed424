"""For host projects that describe their own API with drf-spectacular.

With both apps in `INSTALLED_APPS`, views that use `AuthserviceAuthentication` are described as
protected by it. This hook adds our routes:

    SPECTACULAR_SETTINGS = {
        "POSTPROCESSING_HOOKS": [
            "drf_spectacular.hooks.postprocess_schema_enums",
            "authservice.openapi.spectacular.add_routes",
        ],
    }

The names of our components start with `Auth`, so that they do not replace components of the host
project. Nothing else in this package imports drf-spectacular.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.urls import get_script_prefix
from drf_spectacular.extensions import OpenApiAuthenticationExtension

from authservice.kernel.sections import mount
from authservice.openapi.document import describe
from authservice.openapi.routes import token_schemes

Schema = dict[str, Any]

_PREFIX = "Auth"


class AuthserviceScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """An access token in the header or, if token cookies are enabled, in a cookie."""

    target_class = "authservice.authentication.AuthserviceAuthentication"
    match_subclasses = True

    @property
    def name(self) -> list[str]:  # type: ignore[override]
        return [_prefixed(scheme) for scheme in token_schemes()]

    def get_security_requirement(self, auto_schema: Any) -> list[dict[str, list[Any]]]:
        return [{name: []} for name in self.name]

    def get_security_definition(self, auto_schema: Any) -> list[Schema]:
        return list(token_schemes().values())


def add_routes(result: Schema, **_: Any) -> Schema:
    """A postprocessing hook: adds the routes of the installed modules, with their mount path."""
    document = _changed(describe(), _with_prefix)
    if str(result.get("openapi", "")).startswith("3.0"):
        document = as_3_0(document)
    # drf-spectacular takes its paths from the URLconf, so they have no script prefix.
    base = "/" + mount().removeprefix(get_script_prefix()).strip("/")
    for path, operations in document["paths"].items():
        result.setdefault("paths", {})[base + path] = {
            method: {"security": document["security"], **operation}
            for method, operation in operations.items()
        }
    for kind, entries in document["components"].items():
        components = result.setdefault("components", {}).setdefault(kind, {})
        components.update({_prefixed(name): entry for name, entry in entries.items()})
    return result


def _changed(node: Any, change: Callable[[Schema], Schema]) -> Any:
    """`node` with `change` applied to every object in it, to inner objects first."""
    if isinstance(node, list):
        return [_changed(entry, change) for entry in node]
    if isinstance(node, dict):
        return change({name: _changed(entry, change) for name, entry in node.items()})
    return node


def _with_prefix(node: Schema) -> Schema:
    """An object with the prefix in operation ids and in references to components."""
    # Types are checked, because a property of a schema may have the name of a keyword.
    if isinstance(node.get("$ref"), str):
        node["$ref"] = _reference(node["$ref"])
    if isinstance(node.get("mapping"), dict) and "propertyName" in node:
        node["mapping"] = {value: _reference(ref) for value, ref in node["mapping"].items()}
    if isinstance(node.get("operationId"), str):
        node["operationId"] = _PREFIX.lower() + _capitalized(node["operationId"])
    if isinstance(node.get("security"), list):
        node["security"] = [
            {_prefixed(scheme): scopes for scheme, scopes in schemes.items()}
            for schemes in node["security"]
        ]
    return node


def _reference(ref: str) -> str:
    path, _, component = ref.rpartition("/")
    return f"{path}/{_prefixed(component)}"


def _prefixed(component: str) -> str:
    return _PREFIX + _capitalized(component)


def _capitalized(name: str) -> str:
    return name[0].upper() + name[1:]


def as_3_0(document: Any) -> Any:
    """The document in OpenAPI 3.0, whose schemas differ from JSON Schema: it has no lists of types,
    no type `null`, no `const` and no empty `required`."""
    return _changed(document, _object_as_3_0)


def _object_as_3_0(node: Schema) -> Schema:
    types = node.get("type")
    if types == "null":
        return {"nullable": True, "enum": [None]}
    if isinstance(node.get("const"), str):
        node["enum"] = [node.pop("const")]
    if node.get("required") == []:
        del node["required"]
    if isinstance(types, list):
        del node["type"]
        rest = [{"type": name} for name in types if name != "null"]
        node |= rest[0] if len(rest) == 1 else {"anyOf": rest}
        node |= {"nullable": True} if "null" in types else {}
    return node
