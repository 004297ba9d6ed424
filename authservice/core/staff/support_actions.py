"""The support page of a user: why they cannot log in, what belongs to them, from all modules, and
the buttons with which staff may help.

The buttons use the rules of the API for super admins, so the audit entries and the mails are the
same. No button changes an address: the owner of the address owns the account.

Each part is shown to staff with its permission. The number of queries is fixed: it depends on the
installed modules and not on the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction

from authservice.core import errors
from authservice.core.messages import kinds, new_devices
from authservice.core.models import Session
from authservice.core.sessions import revocation, sessions
from authservice.core.staff import (
    authority,
    create_and_delete,
    login_obstacles,
    super_admins,
    update_user,
)
from authservice.core.users import lookup
from authservice.core.users.person import Person
from authservice.core.users.user_model import host
from authservice.kernel import clock, databases, message_queue, support_parts
from authservice.kernel.client import Client
from authservice.kernel.errors import Forbidden
from authservice.kernel.languages import admin_count
from authservice.kernel.languages import admin_text as _
from authservice.kernel.modules import plugs
from authservice.kernel.support_parts import Button, Cell, Link, Obstacle, Section, Support

HELP = "authservice_core.support_account"
VERIFY = "authservice_core.verify_account"
SUSPEND = "authservice_core.suspend_account"


class NotOffered(Exception):
    """The action no longer makes sense: the account has changed since the page was shown."""


def buttons() -> list[Button]:
    """All buttons: those of core, then those of the modules."""
    return [*_BUTTONS, *(button for part in plugs(Support) for button in part.buttons)]


def run(button: Button, person: Person, *, by: Any, client: Client, shown: str = "") -> str:
    """Press a button; returns what was done. `by` is the row of the member of staff, who has the
    permission of the button. `shown` is the address on the confirmation page.

    Raises `NotOffered`, `Forbidden` (which is recorded), `UserNotFound`, `LastSuperAdmin`,
    `CannotModifySelf` and what the button raises; nothing is changed then.
    """
    pk = person.user.pk
    name = button.name
    if button.deactivates and by.pk == pk:
        raise errors.CannotModifySelf
    with (
        authority.recorded(f"support {name}", pk, by=by, client=client),
        transaction.atomic(using=databases.primary()),
    ):
        # Only a superuser can take the rights of a super admin: `may_support` refuses other staff.
        losing = button.deactivates and authority.is_superuser(by)
        present = super_admins.lock_user(pk, losing=losing)
        if not authority.may_support(by, present):
            raise Forbidden
        if not button.offered(present) or (button.of_address and present.email != shown):
            raise NotOffered
        return button.run(present, by=by, client=client)


def _unlock(person: Person, *, by: Any, client: Client) -> str:
    if login_obstacles.unlock([person], by=by, client=client):
        return _("Unlocked: the user may try again at once.")
    return _("The user was not locked. Failed attempts below the limit were reset.")


def _end_sessions(person: Person, *, by: Any, client: Client) -> str:
    ended = revocation.revoke_users([person.user], by=by, client=client)
    return admin_count("Ended %(count)d session.", "Ended %(count)d sessions.", ended)


def _send_reset(person: Person, *, by: Any, client: Client) -> str:
    create_and_delete.mail_reset_in_admin(person, by=by, client=_without_language(client))
    return _("A mail with a link to set a new password is on its way to %(email)s.") % {
        "email": person.email
    }


def _resend_verification(person: Person, *, by: Any, client: Client) -> str:
    if not message_queue.can_mail():
        raise errors.EmailNotConfigured
    using = databases.primary()
    client = _without_language(client)
    message_queue.send(kinds.VERIFY_EMAIL, person.email, client, using=using)
    return _("A mail with a link to verify the address is on its way to %(email)s.") % {
        "email": person.email
    }


def _verify_email(person: Person, *, by: Any, client: Client) -> str:
    update_user.change_locked(person, {"email_verified": True}, by=by, client=client)
    return _("%(email)s is marked as verified.") % {"email": person.email}


def _suspend(person: Person, *, by: Any, client: Client) -> str:
    update_user.change_locked(person, {"active": False}, by=by, client=client)
    return _("Suspended. All sessions have ended.")


def _reactivate(person: Person, *, by: Any, client: Client) -> str:
    update_user.change_locked(person, {"active": True}, by=by, client=client)
    return _("Reactivated: the user may log in again.")


def _without_language(client: Client) -> Client:
    """Mails to the user do not use the language of staff."""
    return replace(client, language="")


def _can_get_mail(person: Person) -> bool:
    return bool(person.active and person.email)


def _can_be_verified(person: Person) -> bool:
    return bool(person.email) and not person.email_verified


_BUTTONS = (
    Button(
        name="unlock",
        label=_("Unlock"),
        question=_(
            "All failed attempts at this account are reset: passwords and codes, on all devices."
            " If somebody else made the attempts, they may continue too."
        ),
        permission=HELP,
        offered=lambda person: True,
        run=_unlock,
    ),
    Button(
        name="end-sessions",
        label=_("End all sessions"),
        question=_(
            "The user is logged out everywhere. Every token is refused from the next request on."
        ),
        permission=HELP,
        offered=lambda person: True,
        run=_end_sessions,
    ),
    Button(
        name="send-reset",
        label=_("Send a password reset"),
        question=_(
            "A link to set a new password is mailed to the address of the account. The old password"
            " works until the link is used."
        ),
        permission=HELP,
        offered=_can_get_mail,
        run=_send_reset,
    ),
    Button(
        name="resend-verification",
        label=_("Resend the verification e-mail"),
        question=_("A new link to verify the address is mailed to the address of the account."),
        permission=HELP,
        offered=lambda person: _can_get_mail(person) and not person.email_verified,
        run=_resend_verification,
    ),
    Button(
        name="verify-email",
        label=_("Mark the address as verified"),
        question=_(
            "Do this only if you know that the address belongs to the user, for example by another"
            " channel. It does not count as a proof by the owner."
        ),
        permission=VERIFY,
        offered=_can_be_verified,
        run=_verify_email,
        # The user could change the address while staff ask whether it is theirs.
        of_address=True,
    ),
    Button(
        name="suspend",
        label=_("Suspend"),
        question=_("The user cannot log in any more, and all sessions end at once."),
        permission=SUSPEND,
        offered=lambda person: person.active,
        run=_suspend,
        deactivates=True,
    ),
    Button(
        name="reactivate",
        label=_("Reactivate"),
        question=_("The user may log in again. Earlier sessions stay ended."),
        permission=SUSPEND,
        offered=lambda person: not person.active,
        run=_reactivate,
    ),
)


def revoke_sessions(pk: Any, *, by: Person, session: Session, client: Client) -> None:
    """End all sessions of a user, over the API; `by` is the acting super admin, `session` their
    session.

    Raises `UserNotFound`, and the errors of `authority.acting`.
    """
    with authority.acting(by, session, pk) as editor:
        person = lookup.find_by_pk(pk)
        if person is None:
            raise errors.UserNotFound
        revocation.revoke_users([person.user], by=editor.user, client=client)


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


def page_of(person: Person, may: May) -> Page:
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
            browser = new_devices.parse_browser(session.user_agent)
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
