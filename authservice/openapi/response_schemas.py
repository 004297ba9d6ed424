"""Response types as JSON Schema (2020-12, the dialect of OpenAPI 3.1), and the headers of
responses.

A TypedDict becomes a component with its name, and other schemas reference it. `Annotated` can add
keywords to a type (`Is`), or a field whose properties modules add (`Extras`).
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from authservice.kernel.http.operations import Extras, Is, Named, carried, extension
from authservice.kernel.interfaces import SessionData
from authservice.kernel.modules import plugs
from authservice.openapi import request_schemas

Schema = dict[str, Any]

_PLAIN: Mapping[Any, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    type(None): {"type": "null"},
    None: {"type": "null"},
    Any: {},
}
# Properties that are a literal in each type of a union.
_DISCRIMINATORS = ("status", "type")
_ALWAYS = ("X-Request-ID", "Cache-Control")
_OF_ERRORS = {401: ("WWW-Authenticate",), 429: ("Retry-After",), 503: ("Retry-After",)}


class ResponseSchemas:
    """Collects the components that schemas reference."""

    def __init__(self) -> None:
        self.components: dict[str, Schema] = {}
        self._owners: dict[str, Any] = {}

    def of(self, hint: Any) -> Schema:
        """The schema of a type. Raises TypeError for one that has none."""
        if hint in _PLAIN:
            return dict(_PLAIN[hint])
        origin, arguments = get_origin(hint), get_args(hint)
        if origin is Annotated:
            return self._annotated(arguments[0], arguments[1:])
        if origin in (Required, NotRequired):
            return self.of(arguments[0])
        if _is_union(hint):
            return self._union(arguments)
        if origin is Literal:
            return {**self.of(type(arguments[0])), "enum": list(arguments)}
        if origin is list:
            return {"type": "array", "items": self.of(arguments[0])}
        if origin in (dict, Mapping):
            values = self.of(arguments[1])
            return {"type": "object", **({"additionalProperties": values} if values else {})}
        if not is_typeddict(origin or hint):
            raise TypeError(f"{hint!r} has no schema")
        name = named(hint)
        if self._owners.setdefault(name, hint) != hint:
            raise TypeError(f"{name} is the name of two types: {hint!r}, {self._owners[name]!r}")
        if name not in self.components:
            self.components[name] = {}  # a type may reference itself
            self.components[name] = self.object(hint)
        return {"$ref": f"#/components/schemas/{name}"}

    def _annotated(self, hint: Any, notes: tuple[Any, ...]) -> Schema:
        schema = self.of(hint)
        for note in notes:
            if isinstance(note, Extras):
                schema = self._extras()
            elif isinstance(note, Is):
                schema = {**schema, **note.keywords}
            elif isinstance(note, Named):
                self.components[note.name] = schema
                schema = {"$ref": f"#/components/schemas/{note.name}"}
        return schema

    def _extras(self) -> Schema:
        """An object with the properties that modules add, by the annotations of their methods."""
        merged: Schema = {"type": "object", "required": [], "properties": {}}
        for data in plugs(SessionData):
            returned = get_type_hints(data.extras, include_extras=True).get("return")
            if is_typeddict(returned):
                own = self.object(returned)
                merged["required"] += own["required"]
                merged["properties"].update(own["properties"])
        return merged

    def _union(self, members: tuple[Any, ...]) -> Schema:
        first, *rest = schemas = [self.of(member) for member in members]
        if rest == [{"type": "null"}] and isinstance(first.get("type"), str):
            return {**first, "type": [first["type"], "null"]}
        for name in _DISCRIMINATORS:
            mapping = {
                value: self.of(member)["$ref"]
                for member in members
                for value in _literals(member, name)
            }
            if len(set(mapping.values())) > 1:
                # The property distinguishes objects only, so the type null is beside them.
                alternatives = {
                    "oneOf": [schema for schema in schemas if "$ref" in schema],
                    "discriminator": {"propertyName": name, "mapping": mapping},
                }
                null = [schema for schema in schemas if "$ref" not in schema]
                return {"anyOf": [alternatives, *null]} if null else alternatives
        return {"anyOf": schemas}

    def object(self, hint: Any) -> Schema:
        """The schema of a TypedDict, without a reference."""
        kind = get_origin(hint) or hint
        generic = dict(zip(getattr(kind, "__parameters__", ()), get_args(hint), strict=False))
        hints = get_type_hints(kind, include_extras=True)
        fields = {name: _with_arguments(field, generic) for name, field in hints.items()}
        text = inspect.cleandoc(kind.__doc__ or "")
        extra_properties = {
            name: request_schemas.of_attribute(*pair) for name, pair in extension(kind).items()
        }
        return {
            "type": "object",
            **({"description": text} if text else {}),
            "required": [
                *(name for name, field in fields.items() if _is_required(kind, name, field)),
                *extra_properties,
            ],
            "properties": {
                **{name: self.of(field) for name, field in fields.items() if not _is_empty(field)},
                **extra_properties,
            },
        }


def _literals(hint: Any, name: str) -> tuple[str, ...]:
    """The values of a property that is a literal in this type."""
    field = get_type_hints(hint).get(name) if is_typeddict(hint) else None
    return get_args(field) if get_origin(field) is Literal else ()


def text(hint: Any) -> str:
    """What a response of this type is: the docstrings of its types."""
    members = [arg for arg in get_args(hint) if is_typeddict(arg)] if _is_union(hint) else [hint]
    if get_origin(hint) is list:
        return f"A list. {text(get_args(hint)[0])}"
    kinds = [get_origin(member) or member for member in members]
    texts = [inspect.cleandoc(kind.__doc__ or "") for kind in kinds if is_typeddict(kind)]
    return " Or: ".join(" ".join(text.split()) for text in texts)


def _is_union(hint: Any) -> bool:
    return get_origin(hint) in (Union, types.UnionType)


def named(hint: Any) -> str:
    """A component's name: `User`, and `UserListing` for `Listing[User]`."""
    arguments = "".join(named(argument) for argument in get_args(hint))
    return arguments + str((get_origin(hint) or hint).__name__).lstrip("_")


def _with_arguments(field: Any, generic: Mapping[Any, Any]) -> Any:
    """A field's type with its type variables replaced by the arguments of the generic type."""
    inner = getattr(field, "__parameters__", ())
    return field[tuple(generic[variable] for variable in inner)] if inner else field


def _is_empty(field: Any) -> bool:
    """Whether the field is for properties of modules and no installed module has any."""
    inner = get_args(field)[0] if get_origin(field) in (Required, NotRequired) else field
    if not any(isinstance(note, Extras) for note in getattr(inner, "__metadata__", ())):
        return False
    return all(type(data).extras is SessionData.extras for data in plugs(SessionData))


def _is_required(kind: Any, name: str, field: Any) -> bool:
    # `__required_keys__` is wrong if annotations are strings, because it does not evaluate them.
    if get_origin(field) in (Required, NotRequired):
        return get_origin(field) is Required
    return name in kind.__required_keys__


def _header(text: str, *, required: bool = True, **schema: Any) -> Schema:
    return {
        "description": text,
        **({"required": True} if required else {}),
        "schema": {"type": "string", **schema},
    }


HEADER_COMPONENTS: dict[str, Schema] = {
    "Cache-Control": _header(
        "`no-store, private`, unless the response is the same for all clients."
    ),
    "Location": _header("The target of the redirect.", format="uri-reference"),
    "Referrer-Policy": _header(
        "Prevents the browser from sending this URL, which may contain a secret, to other sites.",
        required=False,
    ),
    "Retry-After": _header("Seconds to wait before a retry.", type="integer", minimum=0),
    "Set-Cookie": _header("Cookies for browsers; see the documentation.", required=False),
    "WWW-Authenticate": _header(
        "The authentication scheme, and after `STEP_UP_REQUIRED` what to prove (RFC 9470).",
        pattern="^Bearer( |$)",
    ),
    "X-Device-Token": _header(
        "Identifies this device and account. Only responses with tokens contain it.",
        required=False,
    ),
    "X-Request-ID": _header(
        "The id of the request: that of the client if it is valid, otherwise a new one.",
        pattern="^[A-Za-z0-9._-]{1,128}$",
    ),
    "X-Total-Count": _header("The number of rows on all pages.", type="integer", minimum=0),
}


def header_references(*names: str) -> Schema:
    """References to the headers of every response and to these."""
    return {name: {"$ref": f"#/components/headers/{name}"} for name in (*_ALWAYS, *names)}


def headers_of_answer(answer: Any) -> Schema:
    """The headers of all types that a response may have."""
    members = (answer, *get_args(answer)) if get_origin(answer) else (answer,)
    return header_references(*dict.fromkeys(name for member in members for name in carried(member)))


def of_error(status: int) -> Schema:
    """The headers of an error response."""
    return header_references(*_OF_ERRORS.get(status, ()))
