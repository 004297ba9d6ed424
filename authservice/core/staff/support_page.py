"""The support page of a user: why they cannot log in, and what belongs to them, from all modules.

Each part is shown to staff with its permission. The number of queries is fixed: it depends on the
installed modules and not on the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from authservice.core.messages import browsers
from authservice.core.models import Session
from authservice.core.sessions import sessions
from authservice.core.staff import login_obstacles
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel import clock, support_parts
from authservice.kernel.modules import plugs
from authservice.kernel.phrases import admin_text as _
from authservice.kernel.support_parts import Cell, Link, Obstacle, Section, Support

ACCOUNT, SESSION = "authservice_core.account", "authservice_core.session"

# `may("app_label.view_model")`: whether the member of staff has a permission.
May = Callable[[str], bool]


class SessionSupport(Support):
    """The sessions of the user, for the part of core."""

    view = "authservice_core.view_session"

    def sections(self, person: Person) -> Iterator[Section]:
        rows = Session.objects.filter(user=person.user.pk).order_by("-pk")[: support_parts.SHOWN]
        headings = (_("started"), _("state"), _("last used"), _("address"), _("browser"))
        yield Section(
            _("Sessions"),
            headings,
            [_session_row(session, person) for session in rows],
            Link(_("All sessions"), SESSION, query={"user__exact": person.id}),
        )


@dataclass(frozen=True)
class Page:
    """The contents of a support page. `blocked` says that an obstacle prevents a login."""

    person: Person
    facts: list[tuple[str, Cell]]
    obstacles: list[Obstacle]
    sections: list[Section]

    @property
    def blocked(self) -> bool:
        return any(obstacle.blocks for obstacle in self.obstacles)


def of(person: Person, may: May) -> Page:
    """The page of a user, for a member of staff."""
    parts = permitted_parts(may)
    sections = [section for part in parts for section in part.sections(person)]
    return Page(person, list(_facts(person)), _obstacles(person, parts), sections)


def permitted_parts(may: May) -> list[Support]:
    """The parts of core and of the modules that the member of staff may see."""
    return [part for part in (SessionSupport(), *plugs(Support)) if may(part.view)]


def _obstacles(person: Person, parts: list[Support]) -> list[Obstacle]:
    found = list(login_obstacles.obstacles(person))
    locked = login_obstacles.locks(person)
    found += [login_obstacles.described(lock, person, parts) for lock in locked]
    found += [obstacle for part in parts for obstacle in part.obstacles(person)]
    return sorted(found, key=lambda obstacle: not obstacle.blocks)


def _facts(person: Person) -> Iterator[tuple[str, Cell]]:
    account, user = person.account, person.user
    yield _("e-mail"), _with_state(person.email, person.email_verified)
    yield _("username"), person.username
    yield _("name"), account.name
    yield _("phone number"), _with_state(account.phone_number, person.phone_number_verified)
    yield _("user"), Link(str(user), host().model._meta.label_lower, person.user.pk)
    yield _("rights"), ", ".join(map(str, _rights(person))) or _("none")
    yield _("created"), account.created_at
    yield _("last login"), person.last_login_at


def _with_state(text: str, verified: bool) -> str:
    if not text:
        return ""
    return f"{text} ({_('verified') if verified else _('not verified')})"


def _rights(person: Person) -> Iterator[str]:
    if person.is_superuser:
        yield _("superuser")
    if person.is_super_admin:
        yield _("super admin")
    if person.is_staff:
        yield _("staff")


def _session_row(session: Session, person: Person) -> list[Cell]:
    browser = browsers.parse(session.user_agent)
    return [
        Link(session.created_at, SESSION, session.pk),
        session_state(session, person),
        session.last_used_at,
        session.ip_address,
        " / ".join(filter(None, browser)),
    ]


def session_state(session: Session, person: Person) -> str:
    """The state of a session, in words."""
    if session.ended_at:
        return _("ended")
    if min(session.idle_expires_at, session.expires_at) <= clock.now():
        return _("expired")
    if sessions.is_valid(person, session):
        return _("open")
    if not person.active:
        return _("void: the user is suspended")
    return _("void: the user or the password has changed")
