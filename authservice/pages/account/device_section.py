"""Sessions: where the user is signed in. Activity: what happened to the account, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.utils.dateparse import parse_datetime
from django.utils.formats import date_format
from django.utils.timesince import timesince
from django.utils.timezone import is_aware, localtime

from authservice.core.messages import browsers
from authservice.kernel import clock, modules
from authservice.kernel.phrases import page_text as _
from authservice.kernel.phrases import translated
from authservice.pages import calls
from authservice.pages.account_pages import url_of
from authservice.pages.account_section import AccountSection, Action, Box, Form, Row
from authservice.pages.visitor import Visitor

_PHONES = ("iOS", "Android", "iPadOS")
_PER_PAGE = 20
_MOMENT = 60  # seconds


class Sessions(AccountSection):
    """The section of the session module."""

    name, icon = "sessions", "screen"

    def label(self) -> Any:
        return _("Sessions")

    def intro(self) -> Any:
        return _("Where you are signed in.")

    def is_shown(self) -> bool:
        return calls.exists("sessions")

    def boxes(self, visitor: Visitor) -> Sequence[Box]:
        rows = [_session(one) for one in visitor.data("sessions")]
        others = Action(
            label=_("Sign out everywhere else"),
            url=url_of("sessions", "end-others"),
            danger=True,
        )
        actions = [others] if len(rows) > 1 else []
        return [Box(title=_("Your devices"), rows=rows, actions=actions)]

    forms = (
        Form(
            name="end",
            title=_("Sign out there?"),
            text=_("The session ends at once."),
            button=_("Sign out"),
            danger=True,
            send=lambda visitor, body: visitor.call(
                "session", "DELETE", path={"session_id": visitor.request.GET.get("id", "")}
            ),
        ),
        Form(
            name="end-others",
            title=_("Sign out everywhere else?"),
            text=_("You stay signed in here. All other sessions end at once."),
            button=_("Sign out everywhere else"),
            danger=True,
            send=lambda visitor, body: visitor.call("sessions", "DELETE"),
        ),
    )


class Activity(AccountSection):
    """The section of the audit module."""

    name, icon = "activity", "list"

    def label(self) -> Any:
        return _("Activity")

    def intro(self) -> Any:
        return _("What happened to your account.")

    def is_shown(self) -> bool:
        return calls.exists("my-audit")

    def boxes(self, visitor: Visitor) -> Sequence[Box]:
        given = visitor.request.GET.get("offset", "")
        offset = int(given) if given.isdecimal() and len(given) < 10 else 0
        found = visitor.data("my-audit", f"offset={offset}&limit={_PER_PAGE}")
        rows = [_entry(one) for one in found["list"]]
        actions = []
        if offset:
            newer = max(0, offset - _PER_PAGE)
            actions.append(Action(label=_("Newer"), url=f"?offset={newer}"))
        if offset + _PER_PAGE < found["total"]:
            actions.append(Action(label=_("Older"), url=f"?offset={offset + _PER_PAGE}"))
        empty = _("Nothing yet.")
        return [Box(title=_("Activity"), rows=rows, actions=actions, empty=empty)]


def device(user_agent: str) -> str:
    """Browser and system in words, never the text of the header, which the client controls."""
    known = browsers.parse(user_agent)
    if not known.name:
        return _("Unknown browser")
    if not known.system:
        return known.name
    return _("%(browser)s on %(system)s") % {"browser": known.name, "system": known.system}


def ago(at: str | datetime | None) -> str:
    """A moment as people say it: "2 hours ago", and a date if it is longer ago than a week."""
    moment = parse_datetime(at) if isinstance(at, str) else at
    if moment is None:
        return ""
    now = clock.utc()
    passed = now - moment
    if passed.total_seconds() < _MOMENT:
        return _("just now")
    if passed.days < 7:
        return _("%(time)s ago") % {"time": timesince(moment, now, depth=1)}
    return date_format(localtime(moment) if is_aware(moment) else moment, "DATE_FORMAT")


def _joined(*texts: Any) -> str:
    return " · ".join(str(text) for text in texts if text)


def _session(one: Mapping[str, Any]) -> Row:
    known = browsers.parse(one["user_agent"])
    end = Action(
        label=_("Sign out"),
        about=device(one["user_agent"]),
        url=f"{url_of('sessions', 'end')}?id={one['id']}",
        danger=True,
    )
    signed_in = _("Signed in %(when)s") % {"when": ago(one["created_at"])}
    return Row(
        label=device(one["user_agent"]),
        hint=_joined(one["ip_address"], signed_in),
        tag=_("This browser") if one["current"] else "",
        tone="good",
        icon="phone" if known.system in _PHONES else "screen",
        actions=[] if one["current"] else [end],
    )


def _entry(one: Mapping[str, Any]) -> Row:
    action = modules.known_actions().get(one["action"])
    text = translated(action.text) if action else one["details"]
    where = device(one["user_agent"]) if one["user_agent"] else ""
    by = _("by an administrator") if one["actor_type"] == "admin" else ""
    return Row(
        label=text,
        hint=_joined(ago(one["created_at"]), by, where, one["ip_address"]),
        tone="warn" if one["severity"] != "info" else "",
        tag=_("Notice") if one["severity"] != "info" else "",
    )


sessions, activity = Sessions(), Activity()
