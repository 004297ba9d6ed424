"""The page of slots: from the list in `kernel/modules.py` and the base classes of their fillers."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator
from typing import Any

from authservice.kernel import interfaces
from authservice.kernel.modules import SINGLE, SLOTS, Slot, installed
from authservice.pages import account_section
from authservice.stateless.apps import StatelessConfig
from tests.reference import rst

INTRO = """
You want an app of your project to add behaviour to the service: fill a slot.

A slot is a place where the service calls an app. It is an attribute of the app's ``AppConfig``, a
``authservice.kernel.modules.ModuleConfig``, with the dotted path of the object that fills it, or a
tuple of paths. The object is an instance of a subclass of the base class of the slot, or a function
where the signature says so. A method that it does not override does nothing. The check
``authservice.E003`` reports a path that cannot be imported, ``authservice.E008`` an object that
does not fit. Modules of this package fill slots in the same way. `Apps of your own
<../public.rst>`__ has an example.

Most slots take any number of fillers, which are called in the order of ``INSTALLED_APPS``. If
several apps fill a slot that takes one, only the last of them in ``INSTALLED_APPS`` is called, and
the check ``authservice.W281`` names them.
"""
_ONE = "One filler: of several apps, the last one in ``INSTALLED_APPS`` (``authservice.W281``)."
# The other login module, which cannot be installed beside the session module.
_NOT_INSTALLED = (StatelessConfig,)
# Imported for its base class.
_PAGES = account_section.AccountSection
_TYPES = (interfaces.Arrival, interfaces.Challenge, interfaces.Lifetimes)

_ROUTES = (
    (
        "views",
        "a file, or a tuple of files",
        "The routes of the module: each ``Endpoint`` with a ``path``, relative to the prefix of the"
        " project.",
    ),
    (
        "urls",
        "a URLconf",
        "Further routes of the module, such as views of Django. They are mounted below the prefix"
        " of the project, after those of ``views``.",
    ),
)


def page() -> str:
    return rst.page("Slots", INTRO, [*_routes(), *map(_slot, SLOTS), *map(_type, _TYPES)])


def _routes() -> Iterator[str]:
    for name, signature, text in _ROUTES:
        facts = {
            "Signature": signature,
            "Called": "By ``authservice.urls``, at start.",
            "Filled by": _fillers(name),
        }
        body = f"{rst.paragraph(text)}\n\n{rst.fields(facts)}"
        yield rst.entry(f"slot-{name}", rst.literal(name), body)


def _slot(name: str) -> str:
    protocol = base_of(name)
    promise, *more = inspect.cleandoc(protocol.__doc__ or "").split("\n\n")
    text = promise.partition(": ")[2]  # after "Slot `name`"
    facts = {
        "Signature": _signature(protocol),
        "Called": rst.prose(SLOTS[name]),
        "Takes": _ONE if name in SINGLE else "",
        "Filled by": _fillers(name) or "no module of this package yet",
    }
    parts = [text[0].upper() + text[1:], *more]
    body = [*map(rst.paragraph, parts), rst.fields(facts), *_members(protocol)]
    return rst.entry(rst.anchor("slot", name), rst.literal(name), "\n\n".join(body))


def base_of(name: str) -> type[Any]:
    """The base class of the slot; of a slot of functions, the class whose name is that of the slot
    in CamelCase."""
    bases = {base.slot: base for base in Slot.__subclasses__()}
    return bases.get(name) or getattr(interfaces, "".join(map(str.capitalize, name.split("_"))))


def _signature(protocol: type[Any]) -> str:
    if "__call__" in vars(protocol):
        return rst.literal(_call(vars(protocol)["__call__"]))
    return (
        f"an instance of a subclass of {rst.literal(f'{protocol.__module__}.{protocol.__name__}')}"
    )


def _call(function: Any) -> str:
    """The signature without `self`, as written in the code."""
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())[1:]
    return str(signature.replace(parameters=parameters)).replace("'", "")


def _members(protocol: type[Any]) -> Iterator[str]:
    for name, kind in inspect.get_annotations(protocol).items():
        yield _member(f"{name}: {kind}", "")
    for name, member in vars(protocol).items():
        if isinstance(member, property) and not name.startswith("_"):
            returned = inspect.signature(member.fget).return_annotation  # type: ignore[arg-type]
            yield _member(f"{name}: {returned}", member.__doc__ or "")
        elif inspect.isfunction(member) and not name.startswith("_"):
            yield _member(name + _call(member), member.__doc__ or "")


def _member(signature: str, text: str) -> str:
    return rst.wrapped(f"{rst.literal(signature)} {rst.prose(text)}", first="- ", rest="  ")


def _fillers(slot: str) -> str:
    paths: list[str] = []
    for config in (*installed(), *_NOT_INSTALLED):
        filled = getattr(config, slot) or ()
        paths += [filled] if isinstance(filled, str) else filled
    return ", ".join(map(rst.literal, sorted(set(paths))))


def _type(shape: type[Any]) -> str:
    body = [*map(rst.paragraph, inspect.cleandoc(shape.__doc__ or "").split("\n\n"))]
    names = [rst.literal(field.name) for field in dataclasses.fields(shape)]
    body += [rst.wrapped(f"Fields: {', '.join(names)}.")]
    title = f"{rst.literal(shape.__name__)} (type)"
    return rst.entry(rst.anchor("slot-type", shape.__name__), title, "\n\n".join(body))
