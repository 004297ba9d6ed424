"""The page of signals, from `authservice/signals.py`."""

from __future__ import annotations

import ast
import dataclasses
import inspect
from collections.abc import Iterator

from authservice import signals
from authservice.kernel.actions import ACTIONS
from authservice.kernel.events import Event
from tests.reference import rst
from tests.reference.settings import strings_below

INTRO = """
You want your code to run when something happens: connect a receiver to one of these signals of
``authservice.signals``. Each is sent after the commit, with two keyword arguments, so receivers
accept ``**kwargs``. An exception of a receiver is logged, and affects neither the request nor other
receivers. Connect receivers in ``ready()`` of an app.
"""
EXAMPLE = """
# accounts/receivers.py, imported by ready() of the app
import logging

from authservice.signals import login_failed
from django.dispatch import receiver

@receiver(login_failed)
def log_refused_login(event, user, **kwargs):
    reason = event.metadata.get("reason")
    logging.getLogger("shop").warning("Refused login from %s: %s", event.client.address, reason)
"""
ARGUMENTS = """
``user`` is the user of the project, as each entry says. ``event`` is an
``authservice.kernel.events.Event`` with these attributes:
"""
# What the types of the attributes do not say.
ATTRIBUTES = {
    "action": "a key of the reference of audit actions, such as ``auth.login.failed``",
    "user": "the acting user, or None",
    "target": "the affected row if that is not the actor: a user or an organization; or None",
    "actor_type": "``user``, ``admin`` for staff or ``system`` for commands and the worker",
    "severity": "``info``, ``warning`` or ``critical``",
    "client": (
        "the client of the request: ``address``, ``network``, ``user_agent``, ``request_id``, "
        "``language``; texts are empty outside of a request"
    ),
    "metadata": "a dict of values that JSON can represent, without secrets",
}


def page() -> str:
    entries = [rst.example(EXAMPLE), inspect.cleandoc(ARGUMENTS), _attributes(), *_entries()]
    return rst.page("Signals", INTRO, entries)


def _attributes() -> str:
    return rst.fields(
        {rst.literal(it.name): ATTRIBUTES[it.name] for it in dataclasses.fields(Event)}
    )


def _entries() -> Iterator[str]:
    actions = {id(action.signal): name for name, action in ACTIONS.items()}
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
