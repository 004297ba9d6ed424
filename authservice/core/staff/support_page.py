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

    @property
    def has_password(self) -> bool:
        return bool(self.person.user.has_usable_password())


def of(person: Person, may: May) -> Page:
    """The page of a user, for a member of staff."""
    parts = permitted_parts(may)
    sections = [section for part in parts for section in part.sections(person)]
    account = person.account
    user = person.user
    rights = (
        (_("superuser"), person.is_superuser),
        (_("super admin"), person.is_super_admin),
        (_("staff"), person.is_staff),
    )
    names_of_rights = ", ".join(str(name) for name, has in rights if has)
    facts: list[tuple[str, Cell]] = [
        (_("e-mail"), _with_state(person.email, person.email_verified)),
        (_("username"), person.username),
        (_("name"), account.name),
        (_("phone number"), _with_state(account.phone_number, person.phone_number_verified)),
        (_("user"), Link(str(user), host().model._meta.label_lower, person.user.pk)),
        (_("rights"), names_of_rights or _("none")),
        (_("created"), account.created_at),
        (_("last login"), person.last_login_at),
    ]
    obstacles = list(login_obstacles.obstacles(person))
    locks = login_obstacles.locks(person)
    obstacles += [login_obstacles.described(lock, person, parts) for lock in locks]
    obstacles += [obstacle for part in parts for obstacle in part.obstacles(person)]
    obstacles.sort(key=lambda obstacle: not obstacle.blocks)
    return Page(person, facts, obstacles, sections)


def permitted_parts(may: May) -> list[Support]:
    """The parts of core and of the modules that the member of staff may see."""
    return [part for part in (SessionSupport(), *plugs(Support)) if may(part.view)]


class SessionSupport(Support):
    """Core's part of the page: the sessions of the user."""

    view = "authservice_core.view_session"

    def sections(self, person: Person) -> Iterator[Section]:
        rows = Session.objects.filter(user=person.user.pk).order_by("-pk")[: support_parts.SHOWN]
        lines: list[list[Cell]] = []
        for session in rows:
            browser = browsers.parse(session.user_agent)
            lines.append(
                [
                    Link(session.created_at, SESSION, session.pk),
                    session_state(session, person),
                    session.last_used_at,
                    session.ip_address,
                    " / ".join(filter(None, browser)),
                ]
            )
        headings = (_("started"), _("state"), _("last used"), _("address"), _("browser"))
        yield Section(
            _("Sessions"),
            headings,
            lines,
            Link(_("All sessions"), SESSION, query={"user__exact": person.id}),
        )


def _with_state(text: str, verified: bool) -> str:
    if not text:
        return ""
    return f"{text} ({_('verified') if verified else _('not verified')})"


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
