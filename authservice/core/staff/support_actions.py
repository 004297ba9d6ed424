"""The buttons of the support page: what staff may do to help a user who cannot log in.

The buttons use the rules of the API for super admins, so the audit entries and the mails are the
same. No button changes an address: the owner of the address owns the account.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.db import transaction

from authservice.core import errors
from authservice.core.messages import kinds
from authservice.core.models import Session
from authservice.core.sessions import revocation
from authservice.core.staff import (
    authority,
    create_user,
    login_obstacles,
    super_admins,
    update_user,
)
from authservice.core.users import lookup
from authservice.core.users.person import Person
from authservice.kernel import databases, message_queue
from authservice.kernel.client import Client
from authservice.kernel.errors import Forbidden
from authservice.kernel.modules import plugs
from authservice.kernel.phrases import admin_count
from authservice.kernel.phrases import admin_text as _
from authservice.kernel.support_parts import Button, Support

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
    create_user.mail_reset_in_admin(person, by=by, client=_without_language(client))
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
