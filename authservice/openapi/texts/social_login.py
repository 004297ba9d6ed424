"""Login with identity providers."""

from __future__ import annotations

from authservice.openapi.texts.text import Text

_CALLBACK = """
    The provider sends the browser here after its consent screen; a front end does not call it. The
    result goes to the front end by a redirect: tokens, `challenge=2fa` with `temp_token`, or
    `linked` in the fragment, or `error` and `error_description` in the query. Without an address of
    a front end it is JSON.

    It works once, in the browser that began the login, within the time that the service sets:
    otherwise `OAUTH_INVALID_STATE`, `OAUTH_STATE_USED` or `OAUTH_STATE_EXPIRED`, and the user
    begins again. 409 `OAUTH_EMAIL_EXISTS`: an account has this address, which the provider has not
    verified. Ask the user to log in in another way, and to link the provider there.
    """

TEXTS = {
    "listProviders": Text(
        """
        The providers that the service knows, for the buttons "Sign in with …". Show only those with
        `enabled`. A button is a plain link to `GET /oauth/{provider}`.
        """
    ),
    "listLinkedProviders": Text(
        """
        The names of the providers with which the signed-in user can log in, for the page of
        security settings. Together with `GET /oauth/providers` it says which ones can be added.
        """
    ),
    "startProviderLogin": Text(
        """
        Begins a login or a sign-up with a provider. Let the browser navigate here (a link, not
        `fetch`): it is redirected to the consent screen of the provider, and comes back by the
        callback to the page of the front end that the service has configured.

        400 `OAUTH_PROVIDER_DISABLED` and 404 `OAUTH_PROVIDER_NOT_FOUND`: do not show this provider.
        """,
        "A HEAD request or a prefetch of a browser: no login was begun.",
    ),
    "unlinkProvider": Text(
        """
        Removes a provider from the account of the signed-in user, who can no longer log in with
        it. Sessions stay valid, and the owner gets a mail that can undo it for 72 hours.

        400 `OAUTH_LAST_LOGIN_METHOD`: it is the only way to log in, so the user must set a password
        or link another provider first. 400 `OAUTH_NOT_LINKED`: it is not linked.
        """,
        "The provider was unlinked.",
    ),
    "followProvider": Text(_CALLBACK),
    "receiveProvider": Text(
        f"""{_CALLBACK}
    The same as `GET /oauth/{{provider}}/callback`, for providers that send a form.
    """
    ),
    "linkProvider": Text(
        """
        Begins to link a provider to the account of the signed-in user. Send the request with
        credentials from a page on the same site, because it sets the cookie of the flow. Then
        navigate to `url`. The callback ends at the front end with `linked` in the fragment.

        403 `REAUTHENTICATION_REQUIRED`: send `password` too, because the session began more than
        10 minutes ago. 401 `INVALID_CREDENTIALS`: the password is wrong.
        """
    ),
    "issueProviderNonce": Text(
        """
        For native apps that use the SDK of the provider. Pass the `nonce` to the SDK, and send the
        ID token that it returns with the same nonce to `POST /oauth/{provider}/token`. A nonce
        works once, for 10 minutes.
        """
    ),
    "tradeProviderToken": Text(
        """
        Logs a native app in with what the SDK of the provider returned: `id_token` with the `nonce`
        of `POST /oauth/{provider}/nonce`, or `code` with `code_verifier` and `redirect_uri`. The
        response is that of a login: tokens, or the challenge of a second factor.

        400 `OAUTH_TOKEN_EXCHANGE_FAILED`: the provider refused the code, or the token is not valid
        for this app. 409 `OAUTH_EMAIL_EXISTS`: log in in another way and link the provider there.
        One network can send 20 requests a minute.
        """
    ),
}
