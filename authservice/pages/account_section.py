"""Slot `account_section`: a section of the account pages, and what it consists of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.safestring import SafeString

from authservice.kernel.errors import Fault
from authservice.kernel.modules import Slot
from authservice.pages.calls import Answer
from authservice.pages.form_fields import Field
from authservice.pages.visitor import Visitor


@dataclass(frozen=True, kw_only=True)
class Action:
    """A button that leads to `url`, such as the page of a form."""

    label: Any
    url: str
    danger: bool = False
    main: bool = False
    # What a screen reader says if the label is the same in several rows.
    about: Any = ""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A thing of a user: what it is, its state, and what can be done. `tone` of the `tag` is
    "good", "warn" or "". Beside it is an `icon` of the pages by its name, or an SVG as `mark`."""

    label: Any = ""
    value: Any = ""
    hint: Any = ""
    tag: Any = ""
    tone: str = ""
    icon: str = ""
    mark: SafeString = SafeString()
    actions: Sequence[Action] = ()


@dataclass(frozen=True, kw_only=True)
class Box:
    """Rows under a heading. `empty` is the text if there are none; `links` lead to further rows,
    and `range` says which ones these are."""

    title: Any
    text: Any = ""
    tag: Any = ""
    tone: str = ""
    rows: Sequence[Row] = ()
    actions: Sequence[Action] = ()
    empty: Any = ""
    links: Sequence[Action] = ()
    range: Any = ""


@dataclass(frozen=True, kw_only=True)
class Form:
    """A form on a page of its own, if the project has the route `needs`. `send` passes the values
    to the API."""

    name: str
    title: Any
    button: Any
    send: Callable[[Visitor, Mapping[str, Any]], Answer]
    # A text, or a function of the visitor that returns it.
    text: Any = ""
    needs: str = ""
    # Whether this user may have the form; otherwise its page is 404.
    is_offered: Callable[[Visitor], bool] = field(default=lambda visitor: True)
    danger: bool = False
    done: Any = ""
    fields: Callable[[Visitor], Sequence[Field]] = field(default=lambda visitor: ())
    # The page after success, if it is not the section with `done`.
    after: Callable[[Visitor, Answer], Any] | None = None
    # The page after a refusal. Without it, or if it returns None, the form is shown again.
    again: Callable[[Visitor, Fault], Any] | None = None


class AccountSection(Slot):
    """Slot `account_section`: a section of the account pages. `name` is the last part of its
    address, so it must not be `delete` or `secure`: other pages have these addresses."""

    slot = "account_section"
    name = ""
    icon = "list"
    forms: Sequence[Form] = ()

    def label(self) -> Any:
        """The name in the navigation."""
        raise NotImplementedError

    def intro(self) -> Any:
        """A sentence below the heading."""
        return ""

    def is_shown(self) -> bool:
        """Whether the section exists in this project."""
        return True

    def boxes(self, visitor: Visitor) -> Sequence[Box]:
        """What the section shows to this user. May raise a `Fault`."""
        raise NotImplementedError

    def context(self, visitor: Visitor) -> Mapping[str, Any]:
        """Further variables of the template."""
        return {}
