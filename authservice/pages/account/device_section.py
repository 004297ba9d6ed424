"""Sessions: where the user is signed in. Activity: what happened to the account, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.utils.formats import date_format
from django.utils.timesince import timesince
from django.utils.timezone import localtime

from authservice.core.messages import new_devices
from authservice.kernel import clock, modules
from authservice.kernel.languages import page_text as _
from authservice.kernel.languages import translated
from authservice.pages import calls
from authservice.pages.account_pages import part_of, url_of
from authservice.pages.account_section import AccountSection, Action, Box, Form, Row
from authservice.pages.visitor import Visitor

_PHONES = ("iOS", "Android", "iPadOS")
_MOMENT = 60  # seconds, which are shown as "just now"
# The time of the last use is stored every five minutes at most, so a session in use may seem unused
# for that long.
_ACTIVE = timedelta(minutes=5)


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
        title = _("Your devices")
        part = part_of(visitor, "sessions", about=title)
        # Before the loop: each look-up of a text or an address costs as much as the rest of a row.
        sign_out = str(_("Sign out"))
        this_browser = str(_("This browser"))
        end_url = url_of("sessions", "end")
        signed_in = str(_("Signed in %(when)s"))
        last_active = str(_("Last active %(when)s"))
        active_now = str(_("Active now"))
        now = clock.utc()
        rows = []
        for session in part.rows:
            browser = new_devices.parse_browser(session["user_agent"])
            name = _name_of(browser)
            action = Action(
                label=sign_out, about=name, url=f"{end_url}?id={session['id']}", danger=True
            )
            last_use = datetime.fromisoformat(session["last_used_at"])
            is_active = session["current"] or now - last_use < _ACTIVE
            hint = _joined(
                active_now if is_active else last_active % {"when": ago(session["last_used_at"])},
                session["ip_address"],
                signed_in % {"when": ago(session["created_at"])},
            )
            row = Row(
                label=name,
                hint=hint,
                tag=this_browser if session["current"] else "",
                tone="good",
                icon="phone" if browser.system in _PHONES else "screen",
                actions=[] if session["current"] else [action],
            )
            rows.append(row)
        sign_out_others = Action(
            label=_("Sign out everywhere else"),
            url=url_of("sessions", "end-others"),
            danger=True,
        )
        actions = [sign_out_others] if part.total > 1 else []
        return [Box(title=title, rows=rows, actions=actions, links=part.links, range=part.range)]

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
        title = _("Activity")
        words = (_("Newer"), _("Older"))
        part = part_of(visitor, "my-audit", about=title, words=words)
        rows = []
        for entry in part.rows:
            action = modules.known_actions().get(entry["action"])
            browser = device(entry["user_agent"]) if entry["user_agent"] else ""
            actor = _("by an administrator") if entry["actor_type"] == "admin" else ""
            row = Row(
                label=translated(action.text) if action else entry["details"],
                hint=_joined(ago(entry["created_at"]), actor, browser, entry["ip_address"]),
                tone="warn" if entry["severity"] != "info" else "",
                tag=_("Notice") if entry["severity"] != "info" else "",
            )
            rows.append(row)
        empty = _("Nothing yet.")
        latest = _("Latest")
        return [Box(title=latest, rows=rows, empty=empty, links=part.links, range=part.range)]


def device(user_agent: str) -> str:
    """Browser and system in words, never the text of the header, which the client controls."""
    return _name_of(new_devices.parse_browser(user_agent))


def _name_of(browser: new_devices.Browser) -> str:
    if not browser.name:
        return str(_("Unknown browser"))
    if not browser.system:
        return browser.name
    return str(_("%(browser)s on %(system)s")) % {"browser": browser.name, "system": browser.system}


def ago(at: str) -> str:
    """A moment as people say it: "2 hours ago", or the date if that was a week ago or more."""
    moment, now = datetime.fromisoformat(at), clock.utc()
    passed = now - moment
    if passed.total_seconds() < _MOMENT:
        return _("just now")
    if passed.days < 7:
        return _("%(time)s ago") % {"time": timesince(moment, now, depth=1)}
    return date_format(localtime(moment), "DATE_FORMAT")


def _joined(*texts: Any) -> str:
    return " · ".join(str(text) for text in texts if text)


sessions, activity = Sessions(), Activity()
