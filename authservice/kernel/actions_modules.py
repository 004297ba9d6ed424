"""The recorded actions of the modules: two-factor, magic link, oauth, invitations, organizations.

They are part of the table in `kernel/actions.py`, which is what other files read.
"""

from __future__ import annotations

from collections.abc import Mapping

from authservice.kernel.action_type import ANYBODY, SYSTEM, USER, WARNING, Action

# The app whose actions begin with this; all others are of core.
OWNERS: Mapping[str, str] = {
    "auth.2fa.": "authservice.twofactor",
    "auth.magiclink.": "authservice.magiclink",
    "auth.oauth.": "authservice.oauth",
    "invitation.": "authservice.invitation",
    "org.": "authservice.organization",
    "admin.audit.": "authservice.audit",
}

ACTIONS_OF_MODULES: Mapping[str, Action] = {
    "auth.2fa.enabled": Action(
        "Two-factor authentication was turned on.",
        actors=(USER, SYSTEM),
        when="A user confirms a second factor with its first code, or an import adds one (actor"
        " `system`).",
    ),
    "auth.2fa.disabled": Action(
        "Two-factor authentication was turned off.",
        WARNING,
        actors=ANYBODY,
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
        actors=ANYBODY,
        when="A link is removed by its user, by staff, or by a recovery (actor `system`).",
    ),
    "invitation.sent": Action(
        "An invitation was sent.",
        actors=ANYBODY,
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
        actors=ANYBODY,
        when="The sender or staff cancel a pending invitation.",
    ),
    # Events in organizations, including consequences of staff actions.
    "org.created": Action(
        "An organization was created.",
        actors=ANYBODY,
        when="A user creates an organization, signs up with `ORGANIZATION.AUTO_CREATE`, or an"
        " operator creates one.",
    ),
    "org.updated": Action(
        "An organization was changed.",
        actors=ANYBODY,
        when="A member changes name, logo or metadata, or staff change the organization.",
    ),
    "org.deleted": Action(
        "An organization was deleted.",
        actors=ANYBODY,
        when="An owner or staff delete an organization, or its only member is deleted.",
    ),
    "org.switched": Action(
        "The active organization was changed.",
        when="A user makes an organization the active one of the session.",
    ),
    "org.member.added": Action(
        "A member was added.",
        actors=ANYBODY,
        when="A user accepts an invitation to an organization, or staff add a member.",
    ),
    "org.member.removed": Action(
        "A member was removed.",
        actors=ANYBODY,
        when="A member leaves or is removed, also by staff.",
    ),
    "org.member.role_changed": Action(
        "The role of a member was changed.",
        actors=ANYBODY,
        when="A member gets another role, also because the last owner was deleted.",
    ),
    "org.invitation.sent": Action(
        "An invitation to an organization was sent.",
        actors=ANYBODY,
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
        actors=ANYBODY,
        when="A member or staff cancel a pending invitation.",
    ),
}
