"""Settings: one dict `AUTHSERVICE`, one frozen dataclass per section, one reader.

A section is declared where it is used, with type, default and documentation in one place:

    @dataclass(frozen=True, kw_only=True)
    class MagicLink:
        ttl: timedelta = timedelta(minutes=15)

    conf = section("MAGICLINK", MagicLink)

`conf.ttl` is read when used and re-read after Django's `setting_changed`. A key in the dict is the
field's name in UPPER_SNAKE. Durations are `timedelta` or seconds. The root section has the empty
name and holds the keys that stand directly in `AUTHSERVICE`.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import timedelta
from types import UnionType
from typing import Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed

T = TypeVar("T")

SETTING = "AUTHSERVICE"
_SHOWN = 40  # characters of a wrong value that are repeated
_sections: dict[str, Section] = {}
_caches: list[Callable[[], None]] = []
_caches_of_host: list[Callable[[], None]] = []


@dataclasses.dataclass(frozen=True)
class Complaint:
    """What is wrong with one key: `kind` is "unknown" or "type"; `key` is its dotted name."""

    kind: str
    key: str
    text: str
    hint: str = ""


class Section:
    """A lazy view of one sub-dict; attribute access gives the typed value."""

    def __init__(self, name: str, schema: type[Any]) -> None:
        self._name = name
        self._schema = schema
        self._types = get_type_hints(schema)

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        values = self._load()
        # Kept in the instance, so the next look-up never comes here: these are read per request.
        self.__dict__.update(values)
        return values[attribute]

    def _load(self) -> dict[str, Any]:
        values, complaints = self._read()
        if complaints:
            raise ImproperlyConfigured("; ".join(c.text for c in complaints))
        loaded = self._schema(**values)
        return {field.name: getattr(loaded, field.name) for field in dataclasses.fields(loaded)}

    def _read(self) -> tuple[dict[str, Any], list[Complaint]]:
        given = _given(self._name)
        if not isinstance(given, Mapping):
            return {}, [Complaint("type", self._name or SETTING, f"{self._path()} must be a dict.")]
        values: dict[str, Any] = {}
        complaints: list[Complaint] = []
        for key, raw in given.items():
            if not self._name and key in _sections:
                continue
            if not isinstance(key, str) or key.lower() not in self._types or not key.isupper():
                complaints.append(self._unknown(key))
                continue
            try:
                values[key.lower()] = convert(raw, self._types[key.lower()])
            except TypeError as wrong:
                text = f"{self._path(key)} must be {wrong}, not {_shown(raw)}."
                complaints.append(Complaint("type", self._dotted(key), text))
        return values, complaints

    def _unknown(self, key: object) -> Complaint:
        known = [name.upper() for name in self._types]
        if not self._name:
            known += [name for name in _sections if name]
        near = difflib.get_close_matches(str(key).upper(), known, n=1, cutoff=0.5)
        hint = f"Did you mean {near[0]!r}?" if near else f"Known keys: {', '.join(sorted(known))}."
        text = f"{self._path(key)} is not a setting of authservice."
        return Complaint("unknown", self._dotted(key), text, hint)

    def _path(self, key: object = None) -> str:
        parts = [part for part in (self._name, key) if part]
        return SETTING + "".join(f"[{part!r}]" for part in parts)

    def _dotted(self, key: object) -> str:
        return f"{self._name}.{key}" if self._name else str(key)

    def _forget(self) -> None:
        for name in self._types:
            self.__dict__.pop(name, None)


def section(name: str, schema: type[T]) -> T:
    """Declare a section; the result reads like an instance of `schema`, lazily."""
    _sections[name] = declared = Section(name, schema)
    return cast(T, declared)


def on_change(forget: Callable[[], None]) -> Callable[[], None]:
    """Register a cache to be cleared when any setting changes (usable as a decorator)."""
    _caches.append(forget)
    return forget


def on_host_change(forget: Callable[[], None]) -> Callable[[], None]:
    """The same for what models, databases and apps alone decide: a change of `AUTHSERVICE`
    leaves it, and tests that make one need not compile every statement again."""
    _caches_of_host.append(forget)
    return forget


def complaints() -> Iterator[Complaint]:
    """Everything wrong in `AUTHSERVICE`, for the system checks."""
    for declared in _sections.values():
        yield from declared._read()[1]


def declared() -> dict[str, type[Any]]:
    """Section names and their dataclasses, for the docs page."""
    return {name: entry._schema for name, entry in sorted(_sections.items())}


def convert(raw: Any, wanted: Any) -> Any:
    """`raw` as the type `wanted`; a TypeError says in words what it must be."""
    if isinstance(wanted, UnionType):  # of a type and None
        return None if raw is None else convert(raw, get_args(wanted)[0])
    if get_origin(wanted) is Literal:
        return _one_of(raw, get_args(wanted))
    if wanted is timedelta:
        return _duration(raw)
    if wanted is Any:
        return raw
    kind = get_origin(wanted) or wanted
    if kind is tuple:
        return _texts(raw)
    if kind in (dict, Mapping):
        return _plain(raw, Mapping, "a dict")
    names = {bool: "True or False", int: "a whole number", str: "a string"}
    if kind is int and isinstance(raw, bool):
        raise TypeError(names[int])
    return _plain(raw, kind, names[kind])


def _shown(raw: Any) -> str:
    # A whole dict or list may hold private keys, and complaints end in logs.
    short = isinstance(raw, bool | int | float | str | None) and len(repr(raw)) <= _SHOWN
    return repr(raw) if short else f"a {type(raw).__name__}"


def _plain(raw: Any, kind: type, words: str) -> Any:
    if not isinstance(raw, kind):
        raise TypeError(words)
    return raw


def _one_of(raw: Any, allowed: tuple[Any, ...]) -> Any:
    if raw not in allowed:
        raise TypeError("one of " + ", ".join(map(repr, allowed)))
    return raw


def _duration(raw: Any) -> timedelta:
    if isinstance(raw, timedelta):
        return raw
    if isinstance(raw, int | float) and not isinstance(raw, bool):
        with suppress(ValueError, OverflowError):  # not a number, or more than a timedelta holds
            return timedelta(seconds=raw)
    raise TypeError("a timedelta or a number of seconds")


def _texts(raw: Any) -> tuple[Any, ...]:
    if isinstance(raw, str) or not isinstance(raw, list | tuple):
        raise TypeError("a list")
    return tuple(raw)


def _given(name: str) -> Any:
    everything = getattr(settings, SETTING, {})
    if not name or not isinstance(everything, Mapping):
        return everything
    return everything.get(name, {})


def _changed(setting: str, **_: object) -> None:
    for declared in _sections.values():
        declared._forget()
    for forget in _caches if setting == SETTING else [*_caches, *_caches_of_host]:
        forget()


setting_changed.connect(_changed, dispatch_uid="authservice.kernel.settings")
