"""What modules contribute to the support page of a user in Django admin.

A module fills the slot `support` with an instance of a subclass of `Support`. It imports nothing of
Django admin: it names rows by model and key, and core turns them into links.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from authservice.kernel.modules import Slot

SHOWN = 10  # rows of a section; its link leads to all of them


@dataclass(frozen=True)
class Link:
    """A text that leads to the page of a row: `model` is "app_label.modelname", `pk` its key.

    Without `pk` it leads to the list, filtered by `query`. Staff who may not view the model see the
    text alone.
    """

    text: Any
    model: str
    pk: Any = None
    query: Mapping[str, str] = field(default_factory=dict)


Cell = str | datetime | Link | None


@dataclass(frozen=True)
class Section:
    """A table: a title, the headings of the columns, and rows of cells. `more` leads to all rows.

    Cells never hold a secret, a digest or a key.
    """

    title: Any
    headings: Sequence[Any]
    rows: Sequence[Sequence[Cell]]
    more: Link | None = None


@dataclass(frozen=True)
class Obstacle:
    """One sentence about logging in. `blocks` says that the user cannot log in because of it;
    otherwise it is a step of every login, or worth knowing."""

    text: str
    blocks: bool = True


@dataclass(frozen=True, kw_only=True)
class Button:
    """An action on the support page. Core asks for a confirmation, checks the rights of the member
    of staff over the user, locks the user, and calls `run`.

    `name` is part of the URL, `question` the text of the confirmation page, `permission` a
    permission of Django such as "app_label.codename". `offered` says whether the action makes sense
    for the user now. `run(person, by=…, client=…)` returns what was done, as a sentence; `by` is
    the row of the member of staff. It may raise a `Fault`, and then nothing is changed.
    `deactivates` says that a super admin may lose their rights by it. `of_address` says that it
    vouches for the address that the confirmation page has shown: nothing is done if the user has
    another one by then.
    """

    name: str
    label: Any
    question: Any
    permission: str
    offered: Callable[[Any], bool]
    run: Callable[..., str]
    deactivates: bool = False
    of_address: bool = False


class Support(Slot):
    """Slot `support`: what a module adds to the support page of a user in Django admin.

    `person` is the user, as in the other slots.
    """

    slot = "support"

    view: str = ""
    """The permission that shows the obstacles and sections, such as "app_label.view_model"."""

    buttons: Sequence[Button] = ()
    """The actions of the module."""

    further: Sequence[str] = ()
    """Further permissions that support staff need, such as those of linked pages."""

    def obstacles(self, person: Any) -> Iterable[Obstacle]:
        """Why the user cannot log in, as far as the module knows."""
        return ()

    def counters(self, person: Any) -> Iterable[Any]:
        """The counters of attempts that can lock the user out, as
        `core.credentials.attempt_counter.Counter`."""
        return ()

    def sections(self, person: Any) -> Iterable[Section]:
        """The tables of the module, in a fixed number of queries."""
        return ()

    def addresses(self, person: Any, action: str, number: int) -> Sequence[str]:
        """The network addresses of the newest `number` recorded actions of the user, each once."""
        return ()
