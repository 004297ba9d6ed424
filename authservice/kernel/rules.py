"""Rules on the values of settings, written beside the type of a field with `typing.Annotated`:

    @dataclass(frozen=True, kw_only=True)
    class Shop:
        ttl: Positive[timedelta] = timedelta(minutes=15)
        front_end: WebAddress = ""
        banners: tuple[LocalPath, ...] = ()

    conf = section("SHOP", Shop)

The system check `authservice.E006` looks at every setting of the installed modules: at the rules of
its value, and at types and rules of the entries of a list or dict. Its message names the setting,
the value and the rule. A value is not compared with its rules when it is read.

A field whose default is `""` may be empty. A field for a secret must have no rule, because the
message would contain the value.
"""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from itertools import zip_longest
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from asgiref.sync import iscoroutinefunction
from django.conf import settings as django_settings
from django.utils.module_loading import import_string

from authservice.kernel import settings
from authservice.kernel.origins import is_path, is_web_address, normal

# RFC 9110 section 5.6.2, for names of headers; RFC 6265 section 4.1.1, for names of cookies.
_TOKEN = r"[A-Za-z0-9!#$%&'*+.^_`|~-]+"  # noqa: S105 a term of these standards, not a secret
_PREFIXES = ("__host-", "__secure-")


@dataclass(frozen=True)
class Rule:
    """What a value must be, beside its type.

    `text` continues "must be". `allows` may also refuse with an `ImportError` or a `ValueError`
    that says why. `hint` says what to do; without one, the message says what the default value is.
    """

    text: str
    allows: Callable[[Any], object]
    hint: str = ""


@dataclass(frozen=True)
class Violation:
    """A value of a setting that breaks a rule."""

    text: str
    hint: str


def violations() -> Iterator[Violation]:
    """Every value in the settings of installed modules that breaks a rule. Values of a wrong type
    must have been refused before."""
    for setting in settings.readable():
        default = setting.default
        if setting.value == "" == default:
            continue
        for text, hint in _broken(setting.name, setting.value, setting.kind):
            if isinstance(default, tuple | Mapping):
                remedy = "Remove the key to use its default, or correct the entry."
            else:
                remedy = f"Remove the key to use its default, {_shown(default)}."
            yield Violation(text, hint or remedy)


def described(kind: Any, *, of: str = "") -> Iterator[str]:
    """The rules of a type and of its entries, as they continue "must be"; for the documentation."""
    rules, kind = _parts(kind)
    yield from (f"{of}{rule.text}" for rule in rules)
    names = {tuple: ["each entry "], dict: ["each key ", "each value "]}
    names[Mapping] = names[dict]
    # The members of a union have no names of their own, so `of` stays.
    for part, name in zip_longest(get_args(kind), names.get(get_origin(kind), []), fillvalue=of):
        yield from described(part, of=name)


def _broken(name: str, value: Any, kind: Any) -> Iterator[tuple[str, str]]:
    """Text and hint for the value of a setting and for each of its entries."""
    yield from _refused(f"{name} is {_shown(value)}, but must be", value, kind)
    kinds = get_args(_parts(kind, value)[1])
    if not kinds:
        return
    if isinstance(value, tuple):
        for entry in value:
            start = f"{name} contains {_shown(entry)}, but each entry must be"
            yield from _refused(start, entry, kinds[0])
    if isinstance(value, Mapping):
        for key, entry in value.items():
            start = f"{name} has the key {_shown(key)}, but each key must be"
            yield from _refused(start, key, kinds[0])
            yield from _refused(f"{name}[{key!r}] is {_shown(entry)}, but must be", entry, kinds[1])


def _refused(start: str, raw: Any, kind: Any) -> Iterator[tuple[str, str]]:
    """Text and hint of a wrong type, or of the first rule that the value breaks."""
    try:
        value = settings.convert(raw, kind)
    except TypeError as error:
        yield f"{start} {error}.", ""
        return
    for rule in _parts(kind, value)[0]:
        try:
            reason = None if rule.allows(value) else ""
        except (ImportError, ValueError) as error:
            reason = f": {str(error).rstrip('.')}"
        if reason is not None:
            yield f"{start} {rule.text}{reason}.", rule.hint
            return


def _parts(kind: Any, *value: Any) -> tuple[list[Rule], Any]:
    """The rules of a type, and the type without its rules. For a union and a value, both are those
    of the member of the union to which the value belongs. `value` is empty or one value, which may
    be None."""
    rules: list[Rule] = []
    while True:
        if get_origin(kind) is Annotated:
            rules += [part for part in kind.__metadata__ if isinstance(part, Rule)]
            kind = get_args(kind)[0]
        elif value and get_origin(kind) in (Union, UnionType):
            kind = next(member for member in get_args(kind) if _accepts(member, *value))
        else:
            return rules, kind


def _accepts(kind: Any, value: Any) -> bool:
    if value is None or kind is NoneType:
        return kind is NoneType and value is None
    try:
        settings.convert(value, kind)
    except TypeError:
        return False
    return True


def _shown(value: Any) -> str:
    if isinstance(value, timedelta):
        return str(value)
    plain = isinstance(value, bool | int | float | str | None)
    return repr(value) if plain else f"a {type(value).__name__}"


def between(least: Any, most: Any, text: str) -> Rule:
    """From `least` to `most`; `text` names both with their unit, such as "0 to 60 seconds"."""
    return Rule(f"from {text}", lambda value: least <= value <= most)


def one_of(names: Collection[str]) -> Rule:
    return Rule(f"one of {', '.join(map(repr, names))}", names.__contains__)


def path_of(text: str, *names: str, fault: Callable[[Any], str] = lambda target: "") -> Rule:
    """The dotted path of an object that `text` describes, or one of `names`. `fault` returns why
    the object cannot be used, or ""."""

    def allows(path: str) -> bool:
        if path not in names and (reason := fault(import_string(path))):
            raise ValueError(reason)
        return True

    return Rule(" or ".join([*map(repr, names), f"the dotted path of {text}"]), allows)


def function(*names: str) -> Rule:
    """The dotted path of a function of the project, or one of `names`."""
    return path_of("a function that is not async", *names, fault=_fault_of_function)


def _fault_of_function(target: Any) -> str:
    if not callable(target):
        return "it is not callable"
    # The coroutine would never run. A hook would refuse nothing, since a coroutine is a true value.
    return "it is an async function" if iscoroutinefunction(target) else ""


def class_with(*methods: str, names: Collection[str] = ()) -> Rule:
    """The dotted path of a class with these methods, or one of `names`."""

    def fault(target: Any) -> str:
        missing = [name for name in methods if not callable(getattr(target, name, None))]
        return f"it lacks the methods {', '.join(missing)}" if missing else ""

    return path_of(f"a class with the methods {', '.join(methods)}", *names, fault=fault)


def _is_local_path(text: str) -> bool:
    """Whether this is empty, or a path below the origin of a front end."""
    _, hash_sign, fragment = text.partition("#")
    # Only the router of a front end reads a query after "#", where token and status are added.
    return not text or is_path(text) and (not hash_sign or fragment.startswith("/"))


def _takes_tokens(url: str) -> bool:
    """Whether tokens can be sent to this URL in its fragment."""
    if "#" in url:
        raise ValueError("it has a fragment, where the tokens are sent")
    if "*" in url:
        raise ValueError("there are no wildcards")
    return is_web_address(url)


_Number = TypeVar("_Number", int, timedelta)
Positive = Annotated[_Number, Rule("positive", lambda value: value > type(value)(0))]
NotNegative = Annotated[_Number, Rule("0 or more", lambda value: value >= type(value)(0))]
Function = Annotated[str, function()]
# Which users may do something: all, super admins, or those for whom a function of the project
# returns true.
EVERYONE, SUPER_ADMINS = "everyone", "super_admins"
WhoMay = Annotated[str, function(EVERYONE, SUPER_ADMINS)]
WebAddress = Annotated[
    str,
    Rule(
        "an http or https URL",
        is_web_address,
        "Set it to scheme and host, such as 'https://api.example.com'.",
    ),
]
TokenTarget = Annotated[
    str,
    Rule(
        "an http or https URL without a fragment or a wildcard",
        _takes_tokens,
        "Set it to scheme, host and path, such as 'https://app.example.com/signed-in'. Its page"
        " reads the tokens from the fragment.",
    ),
]
LocalPath = Annotated[
    str,
    Rule(
        "a path below FRONTEND.URL such as '/page'",
        _is_local_path,
        "Use a path that starts with one slash, such as '/reset-password', without white space or"
        " backslashes. It may have a query, and after '#/' a route of the front end. With another"
        " value a link, which has a token, leads to a wrong page, perhaps of another site.",
    ),
]
PageOrPath = Annotated[
    str,
    Rule(
        "a path or an http or https URL",
        lambda url: is_path(url) or is_web_address(url),
        "Use a path such as '/static/logo.svg', or a URL such as 'https://app.example.com/login'.",
    ),
]
Origin = Annotated[
    str,
    Rule(
        "an origin",
        lambda origin: origin and normal(origin) == origin.lower(),
        "Use scheme and host as browsers send them, such as 'https://app.example.com', with the"
        " port only if it is not the default. Wildcards are not supported.",
    ),
]
CookieName = Annotated[
    str,
    Rule(
        "a valid cookie name without a cookie prefix",
        lambda name: re.fullmatch(_TOKEN, name) and not name.lower().startswith(_PREFIXES),
        "Use a-z, A-Z and underscores. Over https the service adds the prefix __Host-, and over"
        " http browsers refuse cookies with it.",
    ),
]
HeaderName = Annotated[
    str,
    Rule(
        "a valid header name",
        lambda name: re.fullmatch(_TOKEN, name) and "_" not in name,
        "Use a-z, A-Z, digits and hyphens. Servers drop headers with underscores.",
    ),
]
CacheAlias = Annotated[
    str,
    Rule(
        "an alias in CACHES",
        lambda alias: alias in django_settings.CACHES,
        "Use an alias of CACHES, or add this one.",
    ),
]
# Maximum length of the metadata of an invitation or an organization, in characters: a list has the
# metadata of up to 100 rows.
MetadataMax = Annotated[int, between(0, 16 * 1024, "0 to 16384")]
ReadableFile = Annotated[str, Rule("a readable file", lambda path: os.access(path, os.R_OK))]


def _has_certificates(path: str) -> bool:
    try:
        ssl.create_default_context(cafile=path)
    except OSError:  # `ssl.SSLError` is one
        return False
    return True


CertificateFile = Annotated[str, Rule("a readable file of certificates in PEM", _has_certificates)]
