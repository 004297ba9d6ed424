"""The table of every recorded action: its text, its severity and the allowed types of actor.

An event with an action that is not in the table raises `KeyError`, so every entry can be
looked up. Severities never change, because lists rely on them for entries of any age. To raise a
severity, add a new action.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

INFO, WARNING, CRITICAL = "info", "warning", "critical"
SEVERITIES = (INFO, WARNING, CRITICAL)

USER, ADMIN, SYSTEM = "user", "admin", "system"
_ANYBODY = (USER, ADMIN, SYSTEM)


@dataclass(frozen=True)
class Action:
    """`text` is shown to people; `actors` are the types of actor that may perform the action."""

    text: str
    severity: str = INFO
    actors: tuple[str, ...] = (USER,)


ACTIONS: Mapping[str, Action] = {
    # Login and logout. The actor is the account named in the request, even if an attacker named it.
    "auth.signup": Action("Signed up."),
    "auth.login.success": Action("Signed in."),
    "auth.login.failed": Action("A sign-in was refused.", WARNING),
    "auth.login.challenged": Action("A sign-in needs a further step."),
    "auth.logout": Action("Signed out."),
    "auth.token.refreshed": Action("Tokens were refreshed."),
    "auth.token.reuse_detected": Action(
        "A used refresh token came again: its sign-in was ended.", CRITICAL
    ),
    "auth.password.changed": Action("The password was changed.", actors=(USER, ADMIN)),
    "auth.password.reset_requested": Action(
        "A reset of the password was asked for.", actors=(USER, ADMIN)
    ),
    "auth.password.reset": Action("The password was reset."),
    "auth.password.reset_failed": Action("A password reset was refused.", WARNING),
    "auth.password.change_failed": Action("A password change was refused.", WARNING),
    "auth.reauthentication.failed": Action("The password for a change was refused.", WARNING),
    "auth.code.failed": Action("A code to verify a phone number was refused.", WARNING),
    "auth.2fa.enabled": Action("Two-factor authentication was turned on."),
    "auth.2fa.disabled": Action(
        "Two-factor authentication was turned off.", WARNING, actors=_ANYBODY
    ),
    "auth.2fa.verified": Action("A second factor was verified."),
    "auth.2fa.failed": Action("A second factor was refused.", WARNING),
    "auth.2fa.backup_used": Action("A backup code was used.", WARNING),
    "auth.2fa.backup_regenerated": Action("New backup codes were made."),
    "auth.magiclink.sent": Action("A link to sign in was sent."),
    "auth.oauth.linked": Action("An identity provider was linked."),
    "auth.oauth.unlinked": Action("An identity provider was unlinked.", actors=_ANYBODY),
    # Changes that users make to their own account.
    "user.profile.updated": Action("The profile was changed."),
    "user.email.changed": Action("The e-mail address was changed.", actors=_ANYBODY),
    "user.email.verified": Action("The e-mail address was verified."),
    "user.phone.changed": Action("The phone number was changed."),
    "user.phone.verified": Action("The phone number was verified."),
    "user.avatar.updated": Action("The avatar was changed."),
    "user.username.changed": Action("The username was changed."),
    "user.deleted": Action("The user deleted their account."),
    "user.secured": Action("The account was secured by the link of a security notice."),
    # Possible attacks.
    "security.account.throttled": Action("Too many tries: further ones were refused.", WARNING),
    "security.session.revoked": Action("Sign-ins were ended.", actors=_ANYBODY),
    "security.new_device": Action("Signed in on a new device.", WARNING),
    "security.forbidden": Action(
        "An action without permission was refused.", WARNING, actors=(USER, ADMIN)
    ),
    # Actions of staff.
    "admin.user.created": Action("Staff created the user.", actors=(ADMIN, SYSTEM)),
    "admin.user.updated": Action("Staff changed the user.", actors=(ADMIN, SYSTEM)),
    "admin.user.deleted": Action("Staff deleted the user.", WARNING, actors=(ADMIN, SYSTEM)),
    "admin.user.suspended": Action("Staff suspended the user.", WARNING, actors=(ADMIN, SYSTEM)),
    "admin.user.reactivated": Action(
        "Staff let the user in again.", WARNING, actors=(ADMIN, SYSTEM)
    ),
    "admin.user.rights_changed": Action(
        "Staff changed the rights of the user.", WARNING, actors=(ADMIN, SYSTEM)
    ),
    "admin.audit.cleaned": Action("Old audit entries were deleted.", actors=(ADMIN, SYSTEM)),
    "invitation.sent": Action("An invitation was sent."),
    "invitation.accepted": Action("An invitation was accepted."),
    "invitation.declined": Action("An invitation was declined."),
    "invitation.cancelled": Action("An invitation was cancelled."),
    # Events in organizations, including consequences of staff actions.
    "org.created": Action("An organization was created.", actors=_ANYBODY),
    "org.updated": Action("An organization was changed.", actors=_ANYBODY),
    "org.deleted": Action("An organization was deleted.", actors=_ANYBODY),
    "org.switched": Action("The active organization was changed."),
    "org.member.added": Action("A member was added.", actors=_ANYBODY),
    "org.member.removed": Action("A member was removed.", actors=_ANYBODY),
    "org.member.role_changed": Action("The role of a member was changed.", actors=_ANYBODY),
    "org.invitation.sent": Action("An invitation to an organization was sent."),
    "org.invitation.accepted": Action("An invitation to an organization was accepted."),
    "org.invitation.declined": Action("An invitation to an organization was declined."),
    "org.invitation.cancelled": Action("An invitation to an organization was cancelled."),
}


def named(pattern: str) -> list[str]:
    """The actions named `pattern`, those below it (`auth.login`), or all with a prefix
    (`auth.log*`)."""
    if pattern.endswith("*"):
        return [name for name in ACTIONS if name.startswith(pattern[:-1])]
    stem = pattern.rstrip(".")
    return [name for name in ACTIONS if name == stem or name.startswith(f"{stem}.")]
