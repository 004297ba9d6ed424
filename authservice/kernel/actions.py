"""The table of every recorded action: its text, its severity and the allowed types of actor.

An event with an action that is not in the table raises `KeyError`, so every entry can be
looked up. Severities never change, because lists rely on them for entries of any age. To raise a
severity, add a new action.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

INFO, WARNING, CRITICAL = "info", "warning", "critical"
SEVERITIES = (INFO, WARNING, CRITICAL)

USER, ADMIN, SYSTEM = "user", "admin", "system"
_ANYBODY = (USER, ADMIN, SYSTEM)
_STAFF = (ADMIN, SYSTEM)
_RESERVED = "Reserved: nothing records it yet."


@dataclass(frozen=True)
class Action:
    """`text` is shown to people; `actors` are the types of actor that may perform the action;
    `when` says in the reference of the docs when it is recorded."""

    text: str
    severity: str = INFO
    actors: tuple[str, ...] = (USER,)
    when: str = field(kw_only=True)


ACTIONS: Mapping[str, Action] = {
    # Login and logout. The actor is the account named in the request, even if an attacker named it.
    "auth.signup": Action(
        "Signed up.", when="A user signs up, over the API or by a magic link to an unknown address."
    ),
    "auth.login.success": Action(
        "Signed in.",
        when="A session begins after every required step, or staff log in to Django admin.",
    ),
    "auth.login.failed": Action(
        "A login was refused.",
        WARNING,
        when="A login is refused: wrong password, link or code, or an account that may not log in.",
    ),
    "auth.login.challenged": Action(
        "A login needs a further step.",
        when="The first step of a login succeeds, and a second factor is still required.",
    ),
    "auth.logout": Action("Signed out.", when="A user ends the current session."),
    "auth.token.refreshed": Action(
        "Tokens were refreshed.",
        when="A refresh token is exchanged. Not stored unless `AUDIT.EXCLUDE` is changed.",
    ),
    "auth.token.reuse_detected": Action(
        "Refresh token reuse detected; the session was revoked.",
        CRITICAL,
        when="A used refresh token is sent again after `REUSE_LEEWAY`: it may have been stolen.",
    ),
    "auth.password.changed": Action(
        "The password was changed.",
        actors=(USER, ADMIN),
        when="A user changes the password, or staff set one in Django admin.",
    ),
    "auth.password.reset_requested": Action(
        "A password reset was requested.",
        actors=(USER, ADMIN),
        when="The worker sends a link or code to reset a password, or staff request it.",
    ),
    "auth.password.reset": Action(
        "The password was reset.", when="A user sets a new password with a link or a code."
    ),
    "auth.password.reset_failed": Action(
        "A password reset was refused.",
        WARNING,
        when="The link or code of a password reset is refused.",
    ),
    "auth.password.change_failed": Action(
        "A password change was refused.",
        WARNING,
        when="The current password in a change of the password is wrong.",
    ),
    "auth.reauthentication.failed": Action(
        "The password that a change requires was wrong.",
        WARNING,
        when="The `password` of `PUT /profile`, `/2fa/setup` or `/oauth/{provider}/link` is wrong.",
    ),
    "auth.code.failed": Action(
        "A code to verify a phone number was refused.",
        WARNING,
        when="A wrong code is sent for a phone number, whether an account has it or not.",
    ),
    "auth.2fa.enabled": Action(
        "Two-factor authentication was turned on.",
        when="A user confirms a second factor with its first code.",
    ),
    "auth.2fa.disabled": Action(
        "Two-factor authentication was turned off.",
        WARNING,
        actors=_ANYBODY,
        when="A factor is removed by its user, by staff, by a command or by a recovery (`reason`).",
    ),
    "auth.2fa.verified": Action(
        "A second factor was verified.", when="A code or backup code is accepted."
    ),
    "auth.2fa.failed": Action(
        "A second factor was refused.", WARNING, when="A code or backup code is wrong."
    ),
    "auth.2fa.backup_used": Action(
        "A backup code was used.",
        WARNING,
        when="A backup code is accepted. Recorded in addition to `auth.2fa.verified`.",
    ),
    "auth.2fa.backup_regenerated": Action(
        "The backup codes were replaced.",
        when="A user requests new backup codes. The old ones are deleted.",
    ),
    "auth.magiclink.sent": Action(
        "A link to sign in was sent.", when="The worker sends a magic link."
    ),
    "auth.oauth.linked": Action(
        "An identity provider was linked.",
        actors=(USER, SYSTEM),
        when="A provider is linked: at sign-up, by its verified address, by the signed-in user, or"
        " by an import (actor `system`).",
    ),
    "auth.oauth.unlinked": Action(
        "An identity provider was unlinked.",
        actors=_ANYBODY,
        when="A link is removed by its user, by staff, or by a recovery (actor `system`).",
    ),
    # Changes that users make to their own account.
    "user.profile.updated": Action(
        "The profile was changed.",
        when="A user changes the profile. Recorded in addition to the entries of single fields.",
    ),
    "user.email.changed": Action(
        "The e-mail address was changed.", actors=_ANYBODY, when=_RESERVED
    ),
    "user.email.verified": Action(
        "The e-mail address was verified.",
        when="An address is verified for the first time, by a link or a login that proves it.",
    ),
    "user.phone.changed": Action(
        "The phone number was changed.",
        when="A phone number is set, changed or removed, also when it moves to another account.",
    ),
    "user.phone.verified": Action(
        "The phone number was verified.", when="A user verifies the phone number with a code."
    ),
    "user.avatar.updated": Action("The avatar was changed.", when="A user changes the avatar."),
    "user.username.changed": Action("The username was changed.", when=_RESERVED),
    "user.deleted": Action("The user deleted their account.", when=_RESERVED),
    "user.secured": Action(
        "The account was secured by the link of a security notice.",
        when='An owner uses the link "this was not me" of a security notice.',
    ),
    # Possible attacks.
    "security.account.throttled": Action(
        "Too many attempts: further ones were refused.",
        WARNING,
        when="A limit on attempts is reached. Recorded once, until attempts are allowed again.",
    ),
    "security.session.revoked": Action(
        "Sessions were revoked.",
        actors=_ANYBODY,
        when="Sessions are ended by their user, staff, a command, a limit or a first proof.",
    ),
    "security.new_device": Action(
        "Signed in on a new device.",
        WARNING,
        when="A user logs in from a device that the account does not know.",
    ),
    "security.forbidden": Action(
        "An action without permission was refused.",
        WARNING,
        actors=(USER, ADMIN),
        when="The caller lacks the rights for a route of super admins or for its change.",
    ),
    # Actions of staff.
    "admin.user.created": Action(
        "Staff created the user.", actors=_STAFF, when="A super admin creates a user over the API."
    ),
    "admin.user.updated": Action(
        "Staff changed the user.",
        actors=_STAFF,
        when="Staff change a user, over the API or in Django admin.",
    ),
    "admin.user.deleted": Action(
        "Staff deleted the user.",
        WARNING,
        actors=_STAFF,
        when="Staff delete a user, over the API or in Django admin.",
    ),
    "admin.user.suspended": Action(
        "Staff suspended the user.",
        WARNING,
        actors=_STAFF,
        when="Staff deactivate a user. Recorded in addition to `admin.user.updated`.",
    ),
    "admin.user.reactivated": Action(
        "Staff reactivated the user.",
        WARNING,
        actors=_STAFF,
        when="Staff activate a suspended user. Recorded in addition to `admin.user.updated`.",
    ),
    "admin.user.rights_changed": Action(
        "Staff changed the rights of the user.",
        WARNING,
        actors=_STAFF,
        when="Staff change superuser or staff status, groups or permissions in Django admin.",
    ),
    "admin.audit.cleaned": Action(
        "Old audit entries were deleted.",
        actors=_STAFF,
        when="A super admin or the command deletes expired entries.",
    ),
    "invitation.sent": Action(
        "An invitation was sent.",
        actors=_ANYBODY,
        when="A user invites an address, or the mail is sent again, also by staff.",
    ),
    "invitation.accepted": Action(
        "An invitation was accepted.",
        when="The owner of the address accepts. Recorded beside the login.",
    ),
    "invitation.declined": Action(
        "An invitation was declined.",
        when="The owner of the address declines, with an account or without.",
    ),
    "invitation.cancelled": Action(
        "An invitation was cancelled.",
        actors=_ANYBODY,
        when="The sender or staff cancel a pending invitation.",
    ),
    # Events in organizations, including consequences of staff actions.
    "org.created": Action(
        "An organization was created.",
        actors=_ANYBODY,
        when="A user creates an organization, signs up with `ORGANIZATION.AUTO_CREATE`, or an"
        " operator creates one.",
    ),
    "org.updated": Action(
        "An organization was changed.",
        actors=_ANYBODY,
        when="A member changes name, logo or metadata, or staff change the organization.",
    ),
    "org.deleted": Action(
        "An organization was deleted.",
        actors=_ANYBODY,
        when="An owner or staff delete an organization, or its only member is deleted.",
    ),
    "org.switched": Action(
        "The active organization was changed.",
        when="A user makes an organization the active one of the session.",
    ),
    "org.member.added": Action(
        "A member was added.",
        actors=_ANYBODY,
        when="A user accepts an invitation to an organization, or staff add a member.",
    ),
    "org.member.removed": Action(
        "A member was removed.",
        actors=_ANYBODY,
        when="A member leaves or is removed, also by staff.",
    ),
    "org.member.role_changed": Action(
        "The role of a member was changed.",
        actors=_ANYBODY,
        when="A member gets another role, also because the last owner was deleted.",
    ),
    "org.invitation.sent": Action(
        "An invitation to an organization was sent.",
        actors=_ANYBODY,
        when="A member invites an address, or the mail is sent again, also by staff.",
    ),
    "org.invitation.accepted": Action(
        "An invitation to an organization was accepted.",
        when="The owner of the address accepts. Recorded beside the new member and the login.",
    ),
    "org.invitation.declined": Action(
        "An invitation to an organization was declined.",
        when="The owner of the address declines, with an account or without.",
    ),
    "org.invitation.cancelled": Action(
        "An invitation to an organization was cancelled.",
        actors=_ANYBODY,
        when="A member or staff cancel a pending invitation.",
    ),
}


def named(pattern: str) -> list[str]:
    """The actions named `pattern`, those below it (`auth.login`), or all with a prefix
    (`auth.log*`)."""
    if pattern.endswith("*"):
        return [name for name in ACTIONS if name.startswith(pattern[:-1])]
    stem = pattern.rstrip(".")
    return [name for name in ACTIONS if name == stem or name.startswith(f"{stem}.")]
