"""Sign-up, and the verification of e-mail addresses and phone numbers."""

from __future__ import annotations

from authservice.openapi.texts.text import Text

_SENT_LINK = (
    "The request was accepted. The response is the same if there is no such account, if its address"
    " is verified already, or if a limit on mails was reached: nothing is mailed then."
)
_SENT_CODE = (
    "The request was accepted. The response is the same if no account has the number, if it is"
    " verified already, or if a limit on text messages was reached: nothing is sent then."
)
_SEND_EMAIL = """
    Sends a mail with a link to `/verify-email`, which is valid for 24 hours. Call it when the user
    did not get the mail of the sign-up, or when a link had expired.

    A client can request 3 mails in 15 minutes and 10 a day for one address. The response does not
    reveal whether the address has an account, so tell the user to look into the mailbox.
    """
_SEND_PHONE = """
    Sends a text message with a code of six digits, which is valid for 10 minutes and 5 attempts.
    Send the code to `POST /verify-phone`. A new code revokes the previous one.

    A client can request 3 messages in 15 minutes and 10 a day for one number. 501
    `SMS_NOT_CONFIGURED` means that the service has no sender of text messages.
    """

TEXTS = {
    "signup": Text(
        """
        Creates an account from `password` and an `email`, a `username` or both, and signs the user
        in. Read `status` of the response:

        - `signed_in` (201): there are tokens. Store them, and send the access token in
          `Authorization: Bearer …`. A link to verify the address was mailed.
        - `verification_required` (201): the account exists, but the user must open the mailed link
          and then log in. Show that, with a button for `POST /send-verification-email`.
        - `sent` (201): the service does not reveal whether the address is free. Tell the user to
          look into the mailbox.
        - `challenge` (200): the service requires a second factor of this user, who has to set it
          up first, with `POST /2fa/setup-login`.

        400 `INVALID_PASSWORD` has a message with the rules for passwords; show it.
        `USER_ALREADY_EXISTS`, `USERNAME_ALREADY_EXISTS` and `PHONE_ALREADY_IN_USE` name the field
        that is taken. 403 `SIGNUP_DISABLED` means that only invited people get accounts. One
        network can sign up 20 times an hour.
        """
    ),
    "isAvailable": Text(
        """
        Says whether an e-mail address, a username or a phone number can be used for a new account.
        Send exactly one of the three, for example when the user leaves a field of the form. The
        result is not a reservation, so handle the errors of the sign-up in any case.

        One network can send 30 requests a minute; 429 `TOO_MANY_REQUESTS` has `Retry-After`.
        """,
        "Whether the identifier is free: `available`, with the name of the `field` and a `message`"
        " that a form can show.",
    ),
    "verifyEmail": Text(
        """
        The address of the link in a verification mail. Browsers open it; a front end rarely calls
        it. The browser that signed up, and clients that ask for `application/json`, verify the
        address at once. Another browser gets a page with two buttons, which sends
        `POST /verify-email`.

        If the front end has a page for the result, the browser is redirected there with
        `status=success` or `status=error`. A second click before the link expires succeeds again.
        On `INVALID_VERIFICATION_TOKEN` or `VERIFICATION_TOKEN_EXPIRED` offer another link with
        `POST /send-verification-email`.
        """,
        "The address is verified; `status` is `success`.",
    ),
    "confirmEmail": Text(
        """
        Sent by the buttons of the page of a verification link. A front end with a page of its own
        sends `token` and `email` of the link with `decision`: `confirm` verifies the address,
        `deny` says that its owner did not sign up.

        `deny` removes all access that was set up for the account, as long as the address is not
        proven. No CSRF token is needed, because the token of the link is enough.
        """,
        "After `confirm` the address is verified. After `deny` all access to the account was"
        " removed, because the owner of its address did not sign up.",
    ),
    "sendVerificationEmail": Text(_SEND_EMAIL, _SENT_LINK),
    "resendVerificationEmail": Text(
        f"""{_SEND_EMAIL}
    The same as `POST /send-verification-email`, for clients that name the second request
    differently.
    """,
        _SENT_LINK,
    ),
    "verifyPhone": Text(
        """
        Verifies a phone number with the code of a text message. The caller need not be signed in.

        400 `INVALID_VERIFICATION_CODE` is the answer to every wrong, used or expired code. A code
        allows five wrong attempts by all clients together. After them a right code is refused too,
        so offer another one with `POST /send-verification-phone`.
        """,
        "The number is verified.",
    ),
    "sendVerificationPhone": Text(_SEND_PHONE, _SENT_CODE),
    "resendVerificationPhone": Text(
        f"""{_SEND_PHONE}
    The same as `POST /send-verification-phone`, for clients that name the second request
    differently.
    """,
        _SENT_CODE,
    ),
}
