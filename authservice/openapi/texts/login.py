"""Login, refresh, logout, magic links, the CSRF token and the public keys."""

from __future__ import annotations

from authservice.openapi.texts.text import Text

_LINK_SENT = (
    "The request was accepted; `status` is `sent`. The response is the same for every address, so"
    " it does not reveal whether an account exists."
)
_MAGIC_LINK = """
    Mails a link and a code of six digits. Either signs the user in, and using one revokes both.
    They are valid for 15 minutes unless the service sets another time.

    Then show a field for the code (`POST /magic-link/verify-code`), and tell the user that the link
    works too. Send the request with credentials from a page on the same site: the browser gets a
    cookie, and opens the link without a further step.

    A client can request 3 mails in 15 minutes and 10 a day for one address. Beyond that the
    response is the same and nothing is mailed.
    """

TEXTS = {
    "login": Text(
        """
        Logs in with `password` and exactly one of `email` and `username`. Read `status`:

        - `signed_in`: store both tokens, send the access token in `Authorization: Bearer …`, and
          call `POST /refresh` when it has expired (`expires_in`, in seconds).
        - `challenge`: the password is right, and a further step is required. There are no tokens
          yet. For a challenge of the type `2fa` ask for a code and send it with `temp_token` to
          `POST /2fa/verify-login`. For `2fa_setup` begin with `POST /2fa/setup-login`.

        401 `INVALID_CREDENTIALS` is the same for an unknown user and a wrong password. 403
        `EMAIL_NOT_VERIFIED` and `PHONE_NOT_VERIFIED` are sent only after a right password: offer
        another link or code. 403 `USER_NOT_ACTIVE` means that the account is suspended.

        After ten wrong passwords in a quarter of an hour, 429 `TOO_MANY_ATTEMPTS` refuses even the
        right one; show the seconds in `Retry-After`. Send `X-Device-Token` of the last login (or
        its cookie): a known device has attempts of its own.
        """
    ),
    "verifyLogin": Text(
        """
        The second step of a login. Send `temp_token` of the challenge and `code`: six digits of the
        authenticator app, or a backup code. With `remember_device` the service skips this step on
        this device for a while, if it allows that.

        After `POST /2fa/setup-login` the first code of the app also enables the second factor.

        401 `TWO_FACTOR_INVALID`: the code is wrong or was used; ask again. 401 `INVALID_TOKEN`: the
        `temp_token` has expired (after 5 minutes, or 15 for the challenge `2fa_setup`), was used,
        or the password has changed; begin again with the login. A `temp_token` allows five
        attempts, then the response is 429 `TOO_MANY_ATTEMPTS`.
        """
    ),
    "setUpTwoFactorToLogIn": Text(
        """
        For a login with a challenge of the type `2fa_setup`: the service requires a second factor,
        and this user has none yet. Send its `temp_token`, show `qr_code` and the backup codes, and
        ask for the first code of the app. Send that code to `POST /2fa/verify-login`, with the same
        `temp_token`, which is valid for 15 minutes.

        Calling it again replaces the secret. 401 `INVALID_TOKEN`: begin again with the login. 400
        `TWO_FACTOR_ALREADY_ENABLED`: the user has set up a factor meanwhile; log in again.
        """
    ),
    "refresh": Text(
        """
        Exchanges a refresh token for a new access token and a new refresh token. Call it when a
        request was refused with 401 `TOKEN_EXPIRED`, then repeat that request once. With tokens in
        cookies send no `refresh_token`: the cookie is read, and also refresh on 401 `UNAUTHORIZED`.

        A refresh token works once. Let only one tab, thread or process refresh, and store both new
        tokens. A token that is sent again later counts as stolen, and the session ends. With
        rotation turned off, the same refresh token is returned and stays valid.

        401 `INVALID_REFRESH_TOKEN`: if another tab has stored newer tokens, use those; otherwise
        ask the user to log in. Keep the tokens after every other failure, such as 503 or no
        connection. A session can refresh 60 times a minute.
        """
    ),
    "logout": Text(
        """
        Ends the session of the access token. Its access and refresh tokens are refused from the
        next request on; other sessions of the user continue. Token cookies are deleted.

        Remove the tokens from the client whatever the response is. If the access token has expired
        (401 `TOKEN_EXPIRED`), refresh first, or the session stays open until it expires.
        """,
        "The session has ended.",
    ),
    "magicLinkSend": Text(_MAGIC_LINK, _LINK_SENT),
    "magicLinkResend": Text(
        f"""{_MAGIC_LINK}
    The same as `POST /magic-link/send`. A newer mail revokes the link and the code of the previous
    one.
    """,
        _LINK_SENT,
    ),
    "followMagicLink": Text(
        """
        The address of the link in the mail. The browser that requested the link is signed in; any
        other browser gets a page with a button, because mail scanners open links too. Clients that
        do not accept HTML are signed in at once.

        If the service has a callback address, the browser is redirected there, with the result in
        the fragment: tokens, or `challenge=2fa` with `temp_token`, or `error`. Remove the fragment
        from the address first.

        `INVALID_TOKEN` and `TOKEN_EXPIRED` mean that the link was used, replaced or is too old.
        Offer another one.
        """
    ),
    "confirmMagicLink": Text(
        """
        Sent by the button of the page of a magic link. A client that handles the link itself, such
        as an app, sends the `token` of the link in JSON. The response is that of
        `GET /magic-link/verify`. No CSRF token is needed, because the token of the link is enough.
        """
    ),
    "magicLinkVerifyCode": Text(
        """
        Signs in with the code of the mail instead of its link, for example on another device. The
        response is that of a login: tokens, or the challenge of a second factor.

        400 `INVALID_VERIFICATION_CODE` is the answer to every wrong, used or expired code. A code
        allows five attempts; after them the right code is refused too, and only the link works.
        """
    ),
    "getCsrfToken": Text(
        """
        Every request that changes something needs a CSRF token: the one of the cookie that this
        response sets, repeated in the header `X-CSRF-Token`. Call it with credentials.

        Fetch a new token after a login and after a logout, because the token belongs to the
        session. It is valid for an hour. On 403 `INVALID_CSRF` fetch another one and repeat the
        request once.
        """
    ),
    "getJwks": Text(
        """
        The public keys with which other services verify access tokens (RFC 7517), without the
        envelope. Cache them, and look again if a token names an unknown `kid`. The list is empty
        while tokens are signed with a shared secret.
        """,
        "The keys that sign now, that will sign next, and whose tokens may still be valid.",
    ),
}
