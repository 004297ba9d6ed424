"""Settings: one dict `AUTHSERVICE`, one frozen dataclass per section, one reader.

A section is declared where it is used, with type, default and documentation in one place:

    @dataclass(frozen=True, kw_only=True)
    class MagicLink:
        ttl: timedelta = timedelta(minutes=15)

    conf = section("MAGICLINK", MagicLink)

`conf.ttl` is read when used and re-read after Django's `setting_changed`. A key in the dict is the
field's name in UPPER_SNAKE. Durations are `timedelta` or seconds. The root section has the empty
name and contains the keys directly in `AUTHSERVICE`.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from importlib.util import find_spec
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    ParamSpec,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from django.apps import apps
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed
from django.utils.module_loading import import_string

P = ParamSpec("P")
T = TypeVar("T")

SETTING = "AUTHSERVICE"
_MAX_SHOWN = 40  # characters; error messages repeat only wrong values up to this length
_sections: dict[str, Section] = {}
_caches: list[Callable[[], None]] = []
_caches_of_host: list[Callable[[], None]] = []


@dataclasses.dataclass(frozen=True)
class Complaint:
    """One invalid key: `kind` is "unknown" or "type", `key` is its dotted name."""

    kind: str
    key: str
    text: str
    hint: str = ""


class Setting(NamedTuple):
    """One key of the settings: its dotted name, its type with the rules beside it, its default and
    its value."""

    name: str
    kind: Any
    default: Any
    value: Any


class Section:
    """A lazy view of one sub-dict; attribute access returns the typed value."""

    def __init__(self, name: str, schema: type[Any]) -> None:
        self._name = name
        self._schema = schema
        self._types = get_type_hints(schema, include_extras=True)

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        converted, complaints = self._read()
        if complaints:
            raise ImproperlyConfigured("; ".join(complaint.text for complaint in complaints))
        loaded = self._schema(**converted)
        values = {field.name: getattr(loaded, field.name) for field in dataclasses.fields(loaded)}
        # Cached in the instance, since settings are read on every request: the next access finds
        # the attribute there and does not call `__getattr__`.
        self.__dict__.update(values)
        return values[attribute]

    def _read(self) -> tuple[dict[str, Any], list[Complaint]]:
        content = getattr(settings, SETTING, {})
        if self._name:
            # The root section reports that `AUTHSERVICE` is no dict; the others must not repeat it.
            content = content.get(self._name, {}) if isinstance(content, Mapping) else {}
        if not isinstance(content, Mapping):
            return {}, [Complaint("type", self._name or SETTING, f"{self._path()} must be a dict.")]
        values: dict[str, Any] = {}
        complaints: list[Complaint] = []
        for key, raw in content.items():
            if not self._name and key in _sections:
                continue
            if not isinstance(key, str) or key.lower() not in self._types or not key.isupper():
                complaints.append(self._unknown(key))
                continue
            try:
                values[key.lower()] = convert(raw, self._types[key.lower()])
            except TypeError as error:
                # A dict or list may contain private keys, and these messages end up in logs.
                plain = isinstance(raw, bool | int | float | str | None)
                short = plain and len(repr(raw)) <= _MAX_SHOWN
                shown = repr(raw) if short else f"a {type(raw).__name__}"
                text = f"{self._path(key)} must be {error}, not {shown}."
                complaints.append(Complaint("type", self._dotted(key), text))
        return values, complaints

    def _unknown(self, key: object) -> Complaint:
        # The module of authservice that declares a section of this name.
        module = f"{__package__.partition('.')[0]}.{str(key).lower()}"
        if not self._name and str(key).isupper() and _exists(f"{module}.apps"):
            text = f"{self._path(key)} belongs to {module}, which is not in INSTALLED_APPS."
            hint = f"Remove the key, or add {module!r} to INSTALLED_APPS."
            return Complaint("unknown", self._dotted(key), text, hint)
        names = [name.upper() for name in self._types]
        if not self._name:
            names += [name for name in _sections if name]
        close = difflib.get_close_matches(str(key).upper(), names, n=1, cutoff=0.5)
        known_keys = f"Known keys: {', '.join(sorted(names))}."
        hint = f"Did you mean {close[0]!r}?" if close else known_keys
        # A key that only another section has, such as `CORE.ACCESS_TOKEN_TTL`.
        places = [
            other._path(key) for other in _sections.values() if str(key).lower() in other._types
        ]
        if len(places) == 1 and str(key).isupper():
            hint = f"Did you mean {places[0]}?"
        text = f"{self._path(key)} is not a setting of authservice."
        return Complaint("unknown", self._dotted(key), text, hint)

    def _path(self, key: object = None) -> str:
        parts = [part for part in (self._name, key) if part]
        return SETTING + "".join(f"[{part!r}]" for part in parts)

    def _dotted(self, key: object) -> str:
        return f"{self._name}.{key}" if self._name else str(key)


def section(name: str, schema: type[T]) -> T:
    """Declare a section. The result behaves like an instance of `schema` that is read lazily."""
    _sections[name] = declared = Section(name, schema)
    return cast(T, declared)


def find(name: str, attribute: str, default: T) -> T:
    """A value of a section whose module may not be installed: the default if it is not."""
    return getattr(_sections[name], attribute) if name in _sections else default


def early(read: Callable[[], T], default: T) -> T:
    """A value of the settings that is read while modules are imported: the default if a section has
    a wrong key, which the system checks report once everything is imported."""
    try:
        return read()
    except ImproperlyConfigured:
        return default


def pluggable(chosen: str, built_in: Mapping[str, str]) -> Any:
    """The object that a setting chooses: by a key of `built_in`, whose values are dotted paths, or
    by a dotted path of its own."""
    return import_string(built_in.get(chosen, chosen))


def cached(function: Callable[P, T]) -> Callable[P, T]:
    """Decorator: `functools.cache`, cleared when any setting changes."""
    cached_function = functools.cache(function)
    on_change(cached_function.cache_clear)
    return cast(Callable[P, T], cached_function)


def cached_for_host(function: Callable[P, T]) -> Callable[P, T]:
    """Decorator: `functools.cache` for results that depend only on models, databases and apps,
    cleared when any setting other than `AUTHSERVICE` changes. So tests that change `AUTHSERVICE`
    need not compile every statement again."""
    cached_function = functools.cache(function)
    on_host_change(cached_function.cache_clear)
    return cast(Callable[P, T], cached_function)


def on_change(forget: Callable[[], None]) -> Callable[[], None]:
    """Register a function that clears a cache when any setting changes (usable as a decorator);
    for caches that `cached` cannot hold."""
    _caches.append(forget)
    return forget


def on_host_change(forget: Callable[[], None]) -> Callable[[], None]:
    """Register a function that clears a cache of results that depend only on models, databases and
    apps (usable as a decorator); for caches that `cached_for_host` cannot hold."""
    _caches_of_host.append(forget)
    return forget


def complaints() -> Iterator[Complaint]:
    """All invalid keys of `AUTHSERVICE`, for the system checks."""
    for _, declared in sorted(_sections.items()):
        yield from declared._read()[1]


def readable() -> Iterator[Setting]:
    """Every setting of the installed modules, for the system check of their rules. Raises
    `ImproperlyConfigured` for a section with complaints."""
    for _, declared in sorted(_sections.items()):
        package = declared._schema.__module__.rpartition(".")[0]
        # Not the section of an app that is not installed. A package without `apps` is in use.
        if not apps.is_installed(package) and _exists(f"{package}.apps"):
            continue
        for field in dataclasses.fields(declared._schema):
            factory = field.default_factory
            default = field.default if factory is dataclasses.MISSING else factory()
            name, kind = declared._dotted(field.name.upper()), declared._types[field.name]
            yield Setting(name, kind, default, getattr(declared, field.name))


def declared() -> dict[str, type[Any]]:
    """Section names and their dataclasses, for the docs page."""
    return {name: entry._schema for name, entry in sorted(_sections.items())}


def convert(raw: Any, annotation: Any) -> Any:
    """Convert `raw` to the type of `annotation`. The text of a TypeError says what the value must
    be."""
    if get_origin(annotation) is Annotated:
        return convert(raw, get_args(annotation)[0])  # rules are a matter of the system check
    if get_origin(annotation) in (Union, UnionType):
        return _one_type_of(raw, get_args(annotation))
    if get_origin(annotation) is Literal:
        if raw not in get_args(annotation):
            raise TypeError("one of " + ", ".join(map(repr, get_args(annotation))))
        return raw
    if annotation is timedelta:
        return _duration(raw)
    if annotation is datetime:
        if not isinstance(raw, datetime) or raw.utcoffset() is None:
            raise TypeError("a datetime with a time zone")
        return raw
    if annotation is Any:
        return raw
    kind = get_origin(annotation) or annotation
    if kind is tuple:
        if not isinstance(raw, list | tuple):
            raise TypeError("a list")
        return tuple(raw)
    if kind in (dict, Mapping):
        return _plain(raw, Mapping, "a dict")
    names = {bool: "True or False", int: "a whole number", str: "a string"}
    if kind is int and isinstance(raw, bool):
        raise TypeError(names[int])
    return _plain(raw, kind, names[kind])


def _exists(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _plain(raw: Any, kind: type, description: str) -> Any:
    if not isinstance(raw, kind):
        raise TypeError(description)
    return raw


def _one_type_of(raw: Any, allowed: tuple[Any, ...]) -> Any:
    """The value as the first of several types that accepts it. The text of the `TypeError` names
    all of them except `None`."""
    if raw is None and NoneType in allowed:
        return None
    descriptions = []
    for kind in allowed:
        if kind is not NoneType:
            try:
                return convert(raw, kind)
            except TypeError as error:
                descriptions.append(str(error))
    raise TypeError(" or ".join(descriptions))


def _duration(raw: Any) -> timedelta:
    if isinstance(raw, timedelta):
        return raw
    if isinstance(raw, int | float) and not isinstance(raw, bool):
        with suppress(ValueError, OverflowError):  # NaN, or too large for a timedelta
            return timedelta(seconds=raw)
    raise TypeError("a timedelta or a number of seconds")


def _changed(setting: str, **_: object) -> None:
    for declared in _sections.values():
        for name in declared._types:
            declared.__dict__.pop(name, None)
    for forget in _caches if setting == SETTING else [*_caches, *_caches_of_host]:
        forget()


setting_changed.connect(_changed, dispatch_uid="authservice.kernel.settings")
