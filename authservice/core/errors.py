"""The errors of core: users, their credentials and codes, and invitations of both kinds.

Those of any request are in `kernel/errors.py`, and those of a module in its `errors.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from authservice.kernel.errors import Fault
from authservice.kernel.languages import of_field

# Login, signup and users


class InvalidCredentials(Fault):
    status = 401
    code = "INVALID_CREDENTIALS"
    message = "The credentials are not valid."
    cause = (
        "The identifier is unknown, the password is wrong, or the account has no password. The"
        " response is the same, so that nobody learns which."
    )
    remedy = "Correct the input, or reset the password."


class UserNotActive(Fault):
    status = 403
    code = "USER_NOT_ACTIVE"
    message = "This account is not active."
    cause = (
        "The account is suspended. The credentials are right, but the user may not log in. For"
        " staff: a suspended user gets no link to reset the password."
    )
    remedy = "Ask staff to reactivate the account."


class UserNotFound(Fault):
    status = 404
    code = "USER_NOT_FOUND"
    message = "The user does not exist."
    cause = "There is no user with this id."
    remedy = "List the users again: the user may have been deleted."


class EmailNotVerified(Fault):
    status = 403
    code = "EMAIL_NOT_VERIFIED"
    message = "The e-mail address has not been verified yet."
    cause = (
        "`CORE.REQUIRE_EMAIL_VERIFICATION` is on, and the address of the account is not verified."
    )
    remedy = "Open the link in the verification mail, or request another one."


class PhoneNotVerified(Fault):
    status = 403
    code = "PHONE_NOT_VERIFIED"
    message = "The phone number has not been verified yet."
    cause = "`CORE.REQUIRE_PHONE_VERIFICATION` is on, and the account has no verified phone number."
    remedy = "Request a code for the number, and verify it."


class PasswordChangeRequired(Fault):
    status = 403
    code = "PASSWORD_CHANGE_REQUIRED"
    message = (
        "This password is no longer safe. Choose another one with the link or code that was sent"
        " to you."
    )
    cause = (
        '`CORE.PASSWORD_RECHECK` is `"change"`, and the password is right, but it is in a list of'
        " breached or common passwords, or too short for an account without a second factor."
    )
    remedy = "Reset the password with the link or code that was sent, or request another one."


class SignupDisabled(Fault):
    status = 403
    code = "SIGNUP_DISABLED"
    message = "Signup is disabled."
    cause = "`CORE.ALLOW_SIGNUP` is off."
    remedy = (
        "Staff create the account, a user invites the address, or the operator turns the setting"
        " on."
    )


class UserAlreadyExists(Fault):
    code = "USER_ALREADY_EXISTS"
    message = "An account with this email already exists."
    cause = "Another account has this e-mail address, in this or an equivalent spelling."
    remedy = "Log in or reset the password of that account, or use another address."


class UsernameAlreadyExists(Fault):
    code = "USERNAME_ALREADY_EXISTS"
    message = "This username is already in use."
    cause = "Another account has this username, in this or an equivalent spelling."
    remedy = "Choose another username."


class PhoneAlreadyInUse(Fault):
    code = "PHONE_ALREADY_IN_USE"
    message = "This phone number is already in use."
    cause = "Another account has verified this phone number."
    remedy = "Use another number."


class LastSuperAdmin(Fault):
    code = "LAST_SUPER_ADMIN"
    message = "The last active super admin cannot be removed, suspended or demoted."
    cause = "The change would leave the service without an active super admin."
    remedy = "Make another user a super admin first."


class CannotModifySelf(Fault):
    code = "CANNOT_MODIFY_SELF"
    message = "You cannot suspend or delete your own account."
    cause = "A super admin tries to suspend or delete their own account over the API."
    remedy = "Ask another super admin to do it."


class SelfDeleteDisabled(Fault):
    status = 403
    code = "SELF_DELETE_DISABLED"
    message = "Users cannot delete their own account here."
    cause = "`CORE.ALLOW_SELF_DELETE` is off."
    remedy = "Ask staff to delete the account, or the operator to turn the setting on."


class Conflict(Fault):
    status = 409
    code = "CONFLICT"
    message = "A record of this project with one of these values already exists."
    cause = (
        "A unique or required column that the project has added to its users refuses the row. The"
        " log names the constraint."
    )
    remedy = "Change the values of the project. The system checks name columns that stay empty."


class UserInUse(Fault):
    status = 409
    code = "USER_IN_USE"
    message = "The user cannot be deleted: other records still reference it."
    cause = "Rows of the project reference the user, and their foreign key forbids the deletion."
    remedy = "Delete or reassign these rows first, or suspend the user instead."


class InvalidPassword(Fault):
    code = "INVALID_PASSWORD"
    message = "The password does not meet the password policy."
    cause = (
        "The new password is too short, too common, or breaks another rule. The message names the"
        " rules."
    )
    remedy = (
        "Choose another password. The rules are `CORE.REQUIRE_*` and Django's"
        " `AUTH_PASSWORD_VALIDATORS`."
    )


def broken_password(field: str, rules: Sequence[str]) -> InvalidPassword:
    """The error of a password that breaks these rules."""
    return InvalidPassword(of_field(field, rules), details={field: rules})


# One-time tokens and codes


class InvalidLink(Fault):
    code = "INVALID_TOKEN"
    message = "The link is not valid."
    cause = (
        "The token of a mailed link is wrong or used, or the address or password of the account"
        " changed since it was sent."
    )
    remedy = "Request another link."


class LinkExpired(Fault):
    code = "TOKEN_EXPIRED"
    message = "The link has expired."
    cause = "The link was valid, but is too old."
    remedy = "Request another link."


class InvalidVerificationToken(Fault):
    code = "INVALID_VERIFICATION_TOKEN"
    message = "The verification link is not valid."
    cause = (
        "The token of a verification link is wrong, does not belong to this address, or the sign-up"
        " was denied by the owner."
    )
    remedy = "Request another link."


class VerificationTokenExpired(Fault):
    code = "VERIFICATION_TOKEN_EXPIRED"
    message = "The verification link has expired."
    cause = "The verification link was valid, but is too old."
    remedy = "Request another link."


class InvalidVerificationCode(Fault):
    code = "INVALID_VERIFICATION_CODE"
    message = "The code is not valid."
    cause = (
        "The code is wrong, used or expired, or too many codes were tried. The response is the"
        " same, so that nobody learns which."
    )
    remedy = "Check the code. If it is still refused, request another one."


# Second factors


class TwoFactorRefused(Fault):
    """As `TwoFactorInvalid` of `authservice.twofactor`, but 401: nobody is signed in yet."""

    status = 401
    code = "TWO_FACTOR_INVALID"
    message = "The code is not valid."
    cause = (
        "In a login, or beside the password that a route requires: the code of the second factor or"
        " the backup code is missing, wrong or was used before."
    )
    remedy = (
        "Send the current code of the app, or the next one if that was used already, or a backup"
        " code that was not used. If all are refused, correct the clock of the device."
    )


class TwoFactorRequired(Fault):
    status = 401
    code = "TWO_FACTOR_REQUIRED"
    message = "This account has a second factor. Sign in with a client that asks for it."
    cause = (
        "At a login route of `authservice.compat`: the password is right, and the user has a second"
        " factor or must set one up. These routes have no step for a code."
    )
    remedy = "Log in at `POST /login`, and send the code to `POST /2fa/verify-login`."


# Step-up


_ACR_VALUES = {"type": "string", "description": "The level that is asked for."}


class StepUpRequired(Fault):
    """The status, header and parameters are those of RFC 9470."""

    described = {
        "acr_values": _ACR_VALUES,
        "max_age": {
            "type": ["integer", "null"],
            "description": "How old its proof may be, in seconds; null for any age.",
        },
    }
    status = 401
    code = "STEP_UP_REQUIRED"
    message = "Confirm that it is you to do this."
    cause = (
        "The route is guarded (`STEP_UP`), and this session has no proof of the level that it asks"
        " for, or an older one. `acr_values` names the level, `max_age` how many seconds old its"
        " proof may be. At `POST /step-up/verify`: the proof that was sent does not reach the level"
        " of the challenge."
    )
    remedy = (
        "Get a challenge from `POST /step-up` with both values, answer it, and repeat the request"
        " with the new access token. A refresh does not help."
    )


class StepUpUnavailable(Fault):
    described = {
        "acr_values": _ACR_VALUES,
        "enrol": {
            "type": "array",
            "items": {"type": "string"},
            "description": "The methods that would prove it, once enrolled.",
        },
    }
    status = 403
    code = "STEP_UP_UNAVAILABLE"
    message = "This needs a stronger way to sign in than this account has."
    cause = (
        "The user has no method that proves the level `acr_values`, or the session proved no first"
        " factor. `enrol` lists the methods that would."
    )
    remedy = "Enrol one of the methods in `enrol`. If the list is empty, log in again."


def step_up_required(level: str, max_age: timedelta | None) -> StepUpRequired:
    """The refusal with the parameters of RFC 9470; `max_age` is None if any age is enough."""
    seconds = None if max_age is None else int(max_age.total_seconds())
    challenge = f'Bearer error="insufficient_user_authentication", acr_values="{level}"'
    if seconds is not None:
        challenge += f', max_age="{seconds}"'
    fault = StepUpRequired(headers={"WWW-Authenticate": challenge})
    fault.fields = {"acr_values": level, "max_age": seconds}
    return fault


def step_up_unavailable(level: str, enrol: Sequence[str]) -> StepUpUnavailable:
    """The refusal that names what to enrol."""
    fault = StepUpUnavailable()
    fault.fields = {"acr_values": level, "enrol": list(enrol)}
    return fault


# Channels that are not configured


class EmailNotConfigured(Fault):
    status = 501
    code = "EMAIL_NOT_CONFIGURED"
    message = "E-mail is not configured on this service."
    cause = "No installed app sends e-mails."
    remedy = "The operator adds `authservice.notification` to `INSTALLED_APPS`."


class SmsNotConfigured(Fault):
    status = 501
    code = "SMS_NOT_CONFIGURED"
    message = "SMS is not configured on this service."
    cause = "No SMS sender is configured."
    remedy = "The operator sets `NOTIFICATION.SMS_SENDER`."


# Invitations


class InvitationNotFound(Fault):
    status = 404
    code = "INVITATION_NOT_FOUND"
    message = "The invitation does not exist."
    cause = (
        "The id or the token of the invitation is unknown, a newer mail replaced its link, or the"
        " user who sent it was deleted."
    )
    remedy = "Use the link of the newest mail, or ask the sender for another invitation."


class InvitationNotPending(Fault):
    code = "INVITATION_NOT_PENDING"
    message = "The invitation is no longer pending."
    cause = (
        "The invitation was accepted, declined or cancelled, it expired before it was cancelled,"
        " or the user who sent it may no longer invite."
    )
    remedy = "Ask the sender for another invitation. If you accepted it before, log in."


class InvitationExpired(Fault):
    code = "INVITATION_EXPIRED"
    message = "The invitation has expired."
    cause = "The invitation was valid, but is too old."
    remedy = "Ask the sender to send it again."


class InvitationAlreadyExists(Fault):
    status = 409
    code = "INVITATION_ALREADY_EXISTS"
    message = "There is already a pending invitation for this address."
    cause = "A pending invitation of the same sender, address and purpose exists."
    remedy = "Send the existing invitation again, or cancel it first."
