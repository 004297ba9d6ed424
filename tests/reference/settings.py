"""The page of settings: every key of `AUTHSERVICE`, from the dataclasses that declare it."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from importlib import import_module
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from django.utils.module_loading import module_has_submodule

from authservice.kernel import rules
from authservice.kernel.modules import LOGIN_MODULES, installed
from authservice.kernel.settings import declared
from tests.reference import rst

INTRO = """
You want to know what a setting does: search this page for its name. ``CORE.ALLOW_SIGNUP`` below is

.. code-block:: python

   AUTHSERVICE["CORE"] = AUTHSERVICE.get("CORE", {}) | {"ALLOW_SIGNUP": False}

There is one dict, ``AUTHSERVICE``, with a dict for each section. A ``timedelta`` may also be a
number of seconds. ``manage.py check`` reports a wrong key or type, a value that breaks the rule of
its key (``authservice.E006``) and a wrong combination, and asks "did you mean". Each key has an
anchor of its own, such as ``#setting-core-allow-signup``.
"""
_TYPES = {
    bool: "``bool``",
    int: "``int``",
    str: "``str``",
    timedelta: "``timedelta``",
    datetime: "``datetime`` with a time zone",
    NoneType: "``None``",
    Any: "``list`` or ``dict``",
}
_UNITS = {"day": timedelta(days=1), "hour": timedelta(hours=1), "minute": timedelta(minutes=1)}


def page() -> str:
    # Of the two login modules only one can be installed.
    for name in {*LOGIN_MODULES, *(config.name for config in installed())}:
        if module_has_submodule(import_module(name), "conf"):
            import_module(f"{name}.conf")
    return rst.page("Settings", INTRO, _sections())


def _sections() -> Iterator[str]:
    for name, schema in declared().items():
        title = rst.literal(name) if name else "Directly in ``AUTHSERVICE``"
        yield rst.entry(rst.anchor("settings", name or "root"), title, _about(schema))
        texts = described(schema)
        types = get_type_hints(schema, include_extras=True)
        for field in dataclasses.fields(schema):
            yield _setting(name, field, types[field.name], texts[field.name])


def _about(schema: type[Any]) -> str:
    return "\n\n".join(map(rst.paragraph, inspect.cleandoc(schema.__doc__ or "").split("\n\n")))


def _setting(section: str, field: dataclasses.Field[Any], kind: Any, text: str) -> str:
    key = field.name.upper()
    title = rst.literal(f"{section}.{key}" if section else key)
    facts = {"Type": shown_type(kind), "Default": shown_default(field)}
    if rule := "; ".join(rules.described(kind)):
        facts["Must be"] = rst.prose(rule)
    body = f"{rst.fields(facts)}\n\n{rst.paragraph(text)}"
    return rst.entry(rst.anchor("setting", section, key), title, body, "~")


def shown_type(kind: Any) -> str:
    if get_origin(kind) is Annotated:
        return shown_type(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return ", or ".join(map(shown_type, get_args(kind)))
    origin = get_origin(kind) or kind
    if origin is Literal:
        return "one of " + ", ".join(rst.literal(json.dumps(value)) for value in get_args(kind))
    if origin in (dict, Mapping):
        return "``dict``"
    return "``list``" if origin is tuple else _TYPES[origin]


def shown_default(field: dataclasses.Field[Any]) -> str:
    if field.default_factory is not dataclasses.MISSING:
        return rst.literal(repr(field.default_factory()))
    value = field.default
    if isinstance(value, timedelta):
        return rst.literal(written(value))
    return rst.literal(json.dumps(value) if isinstance(value, str | tuple) else repr(value))


def written(value: timedelta) -> str:
    """A duration as one writes it in settings, such as `timedelta(days=7)`."""
    number, _, unit = span(value).partition(" ")
    return f"timedelta({unit.rstrip('s')}s={number})" if unit else "timedelta(0)"


def span(value: timedelta) -> str:
    """A duration in words, such as `15 minutes`."""
    for name, unit in _UNITS.items():
        if value and not value % unit:
            return f"{value // unit} {name}{'s' * (value != unit)}"
    return f"{value.total_seconds():g} seconds" if value else "``0``"


def described(schema: type[Any]) -> dict[str, str]:
    """The string below each field, which Python itself does not keep."""
    [body] = ast.parse(inspect.getsource(schema)).body
    return strings_below(body)


def strings_below(node: Any) -> dict[str, str]:
    """The string below each assignment in a class or module."""
    texts = {}
    for line, following in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(line, ast.Assign | ast.AnnAssign) and isinstance(following, ast.Expr):
            target = line.target if isinstance(line, ast.AnnAssign) else line.targets[0]
            texts[ast.unparse(target)] = ast.literal_eval(following.value)
    return texts
