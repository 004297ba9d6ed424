"""The page of signals, from `authservice/signals.py`."""

from __future__ import annotations

import ast
import dataclasses
import inspect
from collections.abc import Iterator

from authservice import signals
from authservice.kernel.events import SIGNALS, Event
from tests.reference import rst
from tests.reference.settings import strings_below

INTRO = """
Signals of ``authservice.signals`` for receivers of the project. Each is sent after the commit, with
two keyword arguments, so receivers accept ``**kwargs``. An exception of a receiver is logged, and
affects neither the request nor other receivers.
``user`` is the user of the project, as each entry says. ``event`` is an
``authservice.kernel.events.Event`` with the attributes below.
"""


def page() -> str:
    names = [rst.literal(field.name) for field in dataclasses.fields(Event)]
    attributes = rst.fields({"Attributes of ``event``": ", ".join(names)})
    return rst.page("Signals", INTRO, [attributes, *_entries()])


def _entries() -> Iterator[str]:
    actions = {id(signal): action for action, signal in SIGNALS.items()}
    for name, text in described().items():
        facts = {
            "Action": rst.literal(actions[id(getattr(signals, name))]),
            "Arguments": "``event``, ``user``",
        }
        body = f"{rst.paragraph(text)}\n\n{rst.fields(facts)}"
        yield rst.entry(rst.anchor("signal", name), rst.literal(name), body)


def described() -> dict[str, str]:
    """The string below each signal."""
    return strings_below(ast.parse(inspect.getsource(signals)))
