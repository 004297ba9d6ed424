"""The user's own account, its password and its sessions."""

from __future__ import annotations

from authservice.openapi.texts.text import Text

_PROOF = """
    Send a proof of the owner: the current `password`, and `code` of the second factor if one is
    enabled. A user without a password sends neither, but must have logged in at most 10 minutes
    ago. 403 `REAUTHENTICATION_REQUIRED`: ask for the password, or for another login. 401
    `INVALID_CREDENTIALS` and `TWO_FACTOR_INVALID`: the password or the code is wrong. 429
    `TOO_MANY_ATTEMPTS`: wait for `Retry-After`.
    """
_DELETE = f"""
    Deletes the account of the signed-in user with all data of the service, permanently. All
    sessions end. Ask for a confirmation before.
    {_PROOF}
    403 `SELF_DELETE_DISABLED`: the service does not allow it. 400 `LAST_SUPER_ADMIN`: the service
    would have no super admin left. 409 `USER_IN_USE`: other data of the project needs this user.
    """
_DELETED = (
    "The account was deleted. Or, for a user without a password but with a proven address: a link"
    " was mailed that deletes it within an hour. `message` says which."
)
_PROFILE = """
    Changes the fields that are sent: `name`, `avatar` (a web address) and `phone` (E.164, such as
    `+491701234567`). `null` and a missing field change nothing, `""` clears. PUT and PATCH do the
    same.

    A changed number is not verified: call `POST /send-verification-phone`. A number that was sent
    with the current `password` can reset the password as soon as it is verified; another one can
    72 hours later.

    400 `PHONE_ALREADY_IN_USE`: another account has verified the number. 403
    `REAUTHENTICATION_REQUIRED`: send `password` too. An account can change its number five times
    a day (429 `TOO_MANY_REQUESTS`).
    """
_USER_AFTER = "The user after the change."

TEXTS = {
    "getMe": Text(
        """
        The user of the access token, as the database has it now. Call it when the app starts, to
        find out who is signed in.

        401 `TOKEN_EXPIRED`: refresh and repeat the request. 401 `INVALID_TOKEN`: the session has
        ended, by a logout, a changed password or a suspension; show the login. 401 `UNAUTHORIZED`:
        no token was sent. With tokens in cookies refresh then too, because the browser deletes the
        cookie of an expired token.
        """
    ),
    "deleteMe": Text(_DELETE, _DELETED),
    "postDeleteMe": Text(
        f"""{_DELETE}
    The same as `DELETE /me`, for clients that cannot send a body with DELETE.
    """,
        _DELETED,
    ),
    "updateProfile": Text(_PROFILE, _USER_AFTER),
    "patchProfile": Text(_PROFILE, _USER_AFTER),
    "changeUsername": Text(
        f"""
    Changes the username: 3 to 30 of the characters `A-Z`, `a-z`, `0-9`, `_`, `.` and `-`. Sessions
    stay valid, and the user logs in with the new name from now on.
    {_PROOF}
    400 `USERNAME_ALREADY_EXISTS`: the name is taken, in whatever case.
    """,
        _USER_AFTER,
    ),
    "changeEmail": Text(
        f"""
    Requests another e-mail address. Nothing changes until the link in the mail to the new address
    is opened, which works for 24 hours; the former address gets a notice. Send the request with
    credentials from a page on the same site: the browser gets a cookie, and opens the link without
    a further step.
    {_PROOF}
    400 `USER_ALREADY_EXISTS`: another account has the address. An account can send five requests a
    day (429 `TOO_MANY_REQUESTS`). 501 `EMAIL_NOT_CONFIGURED`: the service sends no mail.
    """,
        "A link was mailed to the new address. The response is the same for a taken address if"
        " `SIGNUP_ENUMERATION` is `hide`. If only the spelling of the address changes, it is stored"
        " at once.",
    ),
    "showEmailChange": Text(
        """
        The address of the link to a new e-mail address. The browser that sent the request changes
        the address; another one gets a page with a button. Other clients get `status` `confirm`:
        show the change, and send `token` with `POST /change-email/confirm`.

        If the front end has a page for the result, the browser is redirected there with
        `status=success` or `status=error`. `INVALID_VERIFICATION_TOKEN` and
        `VERIFICATION_TOKEN_EXPIRED` mean that the link is not valid any more.
        """
    ),
    "confirmEmailChange": Text(
        """
        Changes the address with the `token` of the link. The new address is verified then, sessions
        stay valid, and both addresses get a mail. Links to the former address are revoked, except
        the one that undoes the change.

        Sending it again succeeds again. 400 `INVALID_VERIFICATION_TOKEN`: the link is not valid,
        for example because the address belongs to another account by now.
        """,
        "The address was changed; `status` is `success`.",
    ),
    "showDeleteAccount": Text(
        """
        The address of the link that deletes an account. Opening it deletes nothing: a browser gets
        a page with a button, other clients get `status` `confirm`. Show what will happen, and send
        `token` with `POST /account/delete`.

        400 `INVALID_TOKEN` or `TOKEN_EXPIRED`: request another link with `POST /me/delete`.
        """
    ),
    "deleteAccount": Text(
        """
        Deletes an account with the `token` of the mailed link, permanently. It works once, within
        an hour. The caller need not be signed in, and all sessions of the account end.

        400 `LAST_SUPER_ADMIN` and 409 `USER_IN_USE` mean that the account must stay.
        """,
        "The account was deleted; `status` is `success`.",
    ),
    "showSecureAccount": Text(
        """
        The address of the link "This was not me" in a notice. Opening it changes nothing: a browser
        gets a page with a button, other clients get `status` `confirm`. Send `token` with
        `POST /account/secure`. The response does not say whether the token is valid.
        """
    ),
    "createSecureAccount": Text(
        """
        Undoes the change that a notice was about, for an owner who did not make it. It restores
        the address and the phone number, removes a second factor and linked providers that were
        added since, ends all sessions, makes the password unusable, and mails a link to set a new
        one. The link works for 72 hours.

        Using the same link again gets the same response and changes nothing. 400 `INVALID_TOKEN`
        or `TOKEN_EXPIRED`: use `POST /forgot-password` instead, or ask the support.
        """,
        "The account is secured; `status` is `success`. A link to set a password was mailed.",
    ),
    "changePassword": Text(
        """
        Sets a new password for a user who knows the current one. This session stays valid and every
        other one ends, so the client keeps its tokens. It stores the new `X-Device-Token`, because
        earlier ones are revoked. The owner gets a mail.

        401 `INVALID_CREDENTIALS`: `old_password` is wrong; do not treat this 401 as an ended
        session. 400 `INVALID_PASSWORD`: show the message, which has the rules. 429
        `TOO_MANY_ATTEMPTS`: wait for `Retry-After`. A user without a password sets one with
        `POST /forgot-password`.
        """,
        "The password was changed. The header has a new device token; earlier ones are revoked.",
    ),
    "forgotPassword": Text(
        """
        Mails a link to set a new password, or sends a code to a verified phone number. Send exactly
        one of `email` and `phone`. The link leads to the page of the front end with `token` and
        `email` in its query and is valid for an hour; the code is valid for 10 minutes. Send either
        to `POST /reset-password`.

        A client can request 3 messages in 15 minutes and 10 a day for one address or number. 501
        `SMS_NOT_CONFIGURED`: the service sends no text messages.
        """,
        "The request was accepted. The response is the same whether an account exists or not, and"
        " beyond a limit on messages: nothing is sent then.",
    ),
    "createResetPassword": Text(
        """
        Sets a new password with the `token` and `email` of a mailed link, or with the `code` of a
        text message and `phone`. All sessions end and nobody is signed in: ask the user to log in
        with the new password. A second factor stays enabled.

        400 `INVALID_PASSWORD`: show the message, which has the rules; the link still works. 400
        `INVALID_TOKEN`, `TOKEN_EXPIRED` or `INVALID_VERIFICATION_CODE`: offer another link or code
        with `POST /forgot-password`.
        """,
        "The password was set and all sessions have ended. A known device gets a new device token"
        " in the header; earlier ones are revoked.",
    ),
    "showResetPassword": Text(
        """
        The page of a link to set a new password, for services without a front end. A browser gets
        a form, which sends `POST /reset-password`. Opening it does not use the link. Other clients
        get `status` `confirm`.
        """
    ),
    "getSessions": Text(
        """
        The active sessions of the signed-in user, newest first, for a page "Your devices".
        `current` is true for the session of this request. `user_agent` and `ip_address` are those
        of the login. The list is complete and has no pages.
        """
    ),
    "deleteSessions": Text(
        """
        Ends all sessions of the user except the one of this request: "Log out everywhere else".
        Their access and refresh tokens are refused from the next request on.
        """,
        "All other sessions have ended.",
    ),
    "getSession": Text(
        """
        One active session of the signed-in user. 404 `SESSION_NOT_FOUND` is the answer for an
        unknown id, for a session that has ended and for one of another user.
        """
    ),
    "deleteSession": Text(
        """
        Ends one session of the user, which may be the current one: its tokens are refused from the
        next request on. 404 `SESSION_NOT_FOUND` means that it has ended already or belongs to
        another user; read the list again.
        """,
        "The session has ended.",
    ),
}
