"""Login, refresh and logout: the routes of every login module."""

from __future__ import annotations

from django.http import HttpResponse

from authservice.core import errors
from authservice.core.api import responses, token_cookies
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.responses import (
    Authenticated,
    Challenged,
    MessageResponse,
    Refreshed,
)
from authservice.core.api.serializers import LoginIn, RefreshIn
from authservice.core.login import login
from authservice.core.sessions import revocation
from authservice.kernel.errors import (
    InvalidRefreshToken,
    ServiceUnavailable,
    TooManyAttempts,
)
from authservice.kernel.http.operations import operation
from authservice.kernel.languages import phrase


class Login(Endpoint):
    path = "login"
    route = "login"
    public = True

    @operation(
        "POST",
        body=LoginIn,
        answer=Authenticated | Challenged,
        faults=(
            errors.InvalidCredentials,
            errors.PasswordChangeRequired,
            ServiceUnavailable,
            TooManyAttempts,
            *login.REFUSALS,
        ),
        id="logIn",
    )
    def log_in(self) -> HttpResponse:
        """Log in with a password

        Logs in with `password` and exactly one of `email` and `username`. Read `status`:

        - `signed_in`: store both tokens, send the access token in `Authorization: Bearer …`, and
          call `POST /refresh` when it has expired (`expires_in`, in seconds).
        - `challenge`: the password is right, and a further step is required. There are no tokens
          yet. For a challenge of the type `2fa` ask for a code and send it with `temp_token` to
          `POST /2fa/verify-login`. For `2fa_setup` begin with `POST /2fa/setup-login`.

        401 `INVALID_CREDENTIALS` is the same for an unknown user and a wrong password. 403
        `EMAIL_NOT_VERIFIED` and `PHONE_NOT_VERIFIED` are sent only after a right password: offer
        another link or code. 403 `USER_NOT_ACTIVE` means that the account is suspended. 403
        `PASSWORD_CHANGE_REQUIRED` means that a link or code to choose another password was sent.

        After ten wrong passwords in a quarter of an hour, 429 `TOO_MANY_ATTEMPTS` refuses even the
        right one; show the seconds in `Retry-After`. Send `X-Device-Token` of the last login (or
        its cookie): a known device has attempts of its own.
        """
        fields = self.read(LoginIn)
        self.one_of(fields, *LoginIn.exactly_one)
        outcome = login.with_password(client=self.client, **fields)
        return responses.login(outcome)


class Refresh(Endpoint):
    path = "refresh"
    route = "refresh"
    public = True

    @operation(
        "POST",
        body=RefreshIn,
        answer=Refreshed,
        faults=(InvalidRefreshToken,),
        id="refreshTokens",
    )
    def refresh(self) -> HttpResponse:
        """Exchange a refresh token for new tokens

        Exchanges a refresh token for a new access token and a new refresh token. Call it when a
        request was refused with 401 `TOKEN_EXPIRED` or `INVALID_TOKEN`, then repeat that request
        once. With tokens in cookies send no `refresh_token`: the cookie is read, and also refresh
        on 401 `UNAUTHORIZED`.

        A refresh token works once. Let only one tab, thread or process refresh, and store both new
        tokens. A token that is sent again later counts as stolen, and the session ends. With
        rotation turned off, the same refresh token is returned and stays valid.

        401 `INVALID_REFRESH_TOKEN`: if another tab has stored newer tokens, use those; otherwise
        ask the user to log in. Keep the tokens after every other failure, such as 503 or no
        connection. A session can refresh 60 times a minute.
        """
        issued = token_cookies.refresh(self)
        refreshed: Refreshed = {**responses.tokens(issued), "message": phrase("Tokens refreshed.")}
        return responses.issue(refreshed, issued)


class Logout(Endpoint):
    path = "logout"
    route = "logout"

    @operation("POST", answer=MessageResponse, id="logOut", answered="The session has ended.")
    def log_out(self) -> HttpResponse:
        """End this session

        Ends the session of the access token. Its access and refresh tokens are refused from the
        next request on; other sessions of the user continue. Token cookies are deleted.

        Remove the tokens from the client whatever the response is. If the access token has expired
        (401 `TOKEN_EXPIRED`), refresh first, or the session stays open until it expires.
        """
        revocation.log_out(self.identity.person, self.identity.session, self.client)
        return responses.logged_out()
