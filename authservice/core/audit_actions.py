"""The audited actions of core. Each module declares its own in its `apps.py`."""

from __future__ import annotations

from collections.abc import Mapping

from authservice import signals
from authservice.kernel.actions import (
    ADMIN,
    ANYBODY,
    CRITICAL,
    STAFF,
    SYSTEM,
    USER,
    WARNING,
    Action,
)

ACTIONS: Mapping[str, Action] = {
    # Login and logout. The actor is the account named in the request, even if an attacker named it.
    "auth.signup": Action(
        "Signed up.",
        when="A user signs up: over the API, with a provider, by accepting an invitation, or by a"
        " magic link to an unknown address.",
        signal=signals.signed_up,
    ),
    "auth.login.success": Action(
        "Signed in.",
        when="A session begins after every required step, or staff log in to Django admin.",
        signal=signals.logged_in,
    ),
    "auth.login.failed": Action(
        "A login was refused.",
        WARNING,
        when="A login is refused: wrong password, link or code, or an account that may not log in.",
        signal=signals.login_failed,
    ),
    "auth.login.challenged": Action(
        "A login needs a further step.",
        when="The first step of a login succeeds, and a second factor is still required.",
    ),
    "auth.logout": Action(
        "Signed out.", when="A user ends the current session.", signal=signals.logged_out
    ),
    "auth.token.refreshed": Action(
        "Tokens were refreshed.",
        when="A refresh token is exchanged. Not stored unless `AUDIT.EXCLUDE` is changed.",
        signal=signals.tokens_refreshed,
    ),
    "auth.token.reuse_detected": Action(
        "Refresh token reuse detected; the session was revoked.",
        CRITICAL,
        when="A used refresh token is sent again after `REUSE_LEEWAY`: it may have been stolen.",
        signal=signals.token_reuse_detected,
    ),
    "auth.token.traded": Action(
        "A session of another package was continued.",
        when="A refresh token of another package is traded for a session. The user did not log in.",
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
    "auth.password.unsafe": Action(
        "The current password breaks a rule for passwords.",
        WARNING,
        when="A login finds the right password in a list of breached or common passwords, or too"
        " short without a second factor (`rule`). Recorded once for each password.",
    ),
    "auth.reauthentication.failed": Action(
        "The password or code that a change requires was wrong.",
        WARNING,
        when="The `password` or `code` that proves the owner is wrong: at `PUT /profile`,"
        " `/2fa/setup`, `/oauth/{provider}/link`, `/change-username`, `/change-email` or"
        " `/me/delete`.",
    ),
    "auth.step_up": Action(
        "Confirmed that it is them.",
        when="A signed-in user proves a level again, or a stronger one (`level`), by `method`.",
    ),
    "auth.step_up.failed": Action(
        "A step-up was refused.",
        WARNING,
        when="The password, code or passkey of a step-up is wrong.",
    ),
    "auth.code.failed": Action(
        "A code to verify a phone number was refused.",
        WARNING,
        when="A wrong code is sent for a phone number, whether an account has it or not.",
    ),
    # Changes that users make to their own account.
    "user.profile.updated": Action(
        "The profile was changed.",
        when="A user changes the profile. Recorded in addition to the entries of single fields.",
    ),
    "user.email.changed": Action(
        "The e-mail address was changed.",
        actors=ANYBODY,
        when="A user confirms another e-mail address, or changes the spelling of the current one.",
        signal=signals.email_changed,
    ),
    "user.email.verified": Action(
        "The e-mail address was verified.",
        actors=ANYBODY,
        when="An address is verified for the first time, by a link or a login that proves it, or"
        " was verified before an import.",
    ),
    "user.phone.changed": Action(
        "The phone number was changed.",
        when="A phone number is set, changed or removed, also when it moves to another account.",
    ),
    "user.phone.verified": Action(
        "The phone number was verified.", when="A user verifies the phone number with a code."
    ),
    "user.avatar.updated": Action("The avatar was changed.", when="A user changes the avatar."),
    "user.username.changed": Action(
        "The username was changed.",
        when="A user changes the username.",
        signal=signals.username_changed,
    ),
    "user.deleted": Action(
        "The user deleted their account.",
        when="A user deletes the account, with the password or by a mailed link.",
    ),
    "user.exported": Action(
        "The user exported their data.",
        WARNING,
        when="A user downloads everything that is stored about them (`GET /me/export`).",
    ),
    "user.secured": Action(
        "The account was secured by the link of a security notice.",
        when='An owner uses the link "this was not me" of a security notice.',
    ),
    # Possible attacks.
    "security.account.throttled": Action(
        "Too many attempts: further ones were refused.",
        WARNING,
        when="A limit on attempts is reached. Recorded once, until attempts are allowed again.",
        signal=signals.account_throttled,
    ),
    "security.breach_check.unavailable": Action(
        "New passwords are not compared with breached ones.",
        WARNING,
        actors=(SYSTEM,),
        when="The server of `NotBreached` does not answer as it should (`reason`): passwords are"
        " accepted without it. Recorded once by each process, until it answers again.",
    ),
    "security.session.revoked": Action(
        "Sessions were revoked.",
        actors=ANYBODY,
        when="Sessions are ended by their user, staff, a command, a limit or a first proof.",
    ),
    "security.one_time_token.revoked": Action(
        "A one-time link or code was revoked.",
        WARNING,
        actors=STAFF,
        when="In Django admin, staff delete a link or code that is neither used nor expired"
        " (`purpose`).",
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
        "Staff created the user.",
        actors=STAFF,
        when="Staff create a user, over the API or in Django admin.",
    ),
    "admin.user.updated": Action(
        "Staff changed the user.",
        actors=STAFF,
        when="Staff change a user, over the API or in Django admin.",
    ),
    "admin.user.deleted": Action(
        "Staff deleted the user.",
        WARNING,
        actors=STAFF,
        when="Staff delete a user, over the API or in Django admin.",
    ),
    "admin.user.exported": Action(
        "Staff exported the data of the user.",
        WARNING,
        actors=STAFF,
        when="`authservice_export` writes everything that is stored about a user to a file.",
    ),
    "admin.user.suspended": Action(
        "Staff suspended the user.",
        WARNING,
        actors=STAFF,
        when="Staff deactivate a user. Recorded in addition to `admin.user.updated`.",
    ),
    "admin.user.reactivated": Action(
        "Staff reactivated the user.",
        WARNING,
        actors=STAFF,
        when="Staff activate a suspended user. Recorded in addition to `admin.user.updated`.",
    ),
    "admin.user.unlocked": Action(
        "Staff reset the failed attempts of the user.",
        WARNING,
        actors=STAFF,
        when="Staff unlock a user in Django admin, locked (`locked`: the number of locks) or not.",
    ),
    "admin.user.rights_changed": Action(
        "Staff changed the rights of the user.",
        WARNING,
        actors=STAFF,
        when="Staff change superuser or staff status, groups or permissions in Django admin.",
    ),
}
