"""The page of audit actions, from what the apps declare."""

from __future__ import annotations

from collections.abc import Iterator

from authservice.audit.writer import category_of
from authservice.kernel.actions import ACTIONS, Action
from tests.reference import rst

INTRO = """
You want to know what an entry of the audit log means: find its action here. These are all that the
log can contain. ``text`` begins the ``details`` of an entry. The actor is ``user`` for what users
do, ``admin`` for what staff do over the API or in Django admin, and ``system`` for commands. The
topic is the list of a user that shows the entry: ``logins``, ``changes`` and ``security`` below
``/me/audit``; ``/me/audit`` itself shows them all.
"""


def page() -> str:
    return rst.page("Audit actions", INTRO, _entries())


def _entries() -> Iterator[str]:
    for name, action in sorted(ACTIONS.items()):
        yield rst.entry(rst.anchor("action", name), rst.literal(name), _facts(name, action))


def _facts(name: str, action: Action) -> str:
    return rst.fields(
        {
            "Text": rst.prose(action.text),
            "Severity": action.severity,
            "Actor": ", ".join(action.actors),
            "Topic": category_of(name) or "none",
            "Recorded when": rst.prose(action.when),
        }
    )
