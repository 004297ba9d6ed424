"""Login, refresh and logout, which every login module has, and the step-up: a signed-in user proves
a level again, or a stronger one."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict, cast

from django.http import HttpResponse
from django.urls import URLPattern, path

from authservice.core import errors
from authservice.core.api import responses, token_cookies
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.responses import (
    Authenticated,
    Challenged,
    ChallengedUser,
    MessageResponse,
    PasskeyOptions,
    Refreshed,
)
from authservice.core.api.serializers import LoginIn, RefreshIn, StepUpIn, StepUpVerifyIn
from authservice.core.login import login, step_up
from authservice.core.login.step_up import Answer, Need
from authservice.core.sessions import revocation
from authservice.core.sessions.sessions import Tokens
from authservice.core.tokens import access_tokens
from authservice.kernel import levels
from authservice.kernel.errors import (
    InvalidRefreshToken,
    InvalidToken,
    ServiceUnavailable,
    TooManyAttempts,
)
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.operations import Is, Named, operation
from authservice.kernel.phrases import phrase
from authservice.kernel.secret import Secret

_ENTER = phrase("Confirm that it is you to continue.")
Acr = Annotated[str, Is(enum=list(levels.ORDER)), Named("AssuranceLevel")]


class Login(Endpoint):
    public = True

    @operation(
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
    public = True

    @operation(
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
    @operation(answer=MessageResponse, id="logOut", answered="The session has ended.")
    def log_out(self) -> HttpResponse:
        """End this session

        Ends the session of the access token. Its access and refresh tokens are refused from the
        next request on; other sessions of the user continue. Token cookies are deleted.

        Remove the tokens from the client whatever the response is. If the access token has expired
        (401 `TOKEN_EXPIRED`), refresh first, or the session stays open until it expires.
        """
        revocation.log_out(self.identity.person, self.identity.session, self.client)
        return responses.logged_out()


class StepUpData(TypedDict):
    """What a step-up needs: `temp_token`, the level and the methods of which one is enough.
    `passkey` are the options of a passkey (Web Authentication), if that is one of them."""

    temp_token: str
    acr: Acr
    methods: list[str]
    passkey: NotRequired[PasskeyOptions]
    message: str


class StepUpChallenge(TypedDict):
    """The user must prove a level again, or a stronger one."""

    type: Literal["step_up"]
    data: StepUpData


class SteppingUp(TypedDict):
    """A challenge for a signed-in user, in the shape of that of a login."""

    status: Literal["challenge"]
    user: ChallengedUser
    challenges: list[StepUpChallenge]
    message: str


class SteppedUp(TypedDict):
    """A new access token of the same session, which names the level in `acr`. The refresh token
    stays as it is."""

    access_token: str
    expires_in: int
    acr: Acr
    message: str


class StepUp(Endpoint):
    @operation(
        body=StepUpIn,
        answer=SteppingUp,
        faults=(errors.StepUpUnavailable,),
        id="stepUp",
    )
    def ask(self) -> HttpResponse:
        """Begin a step-up

        After a request was refused with 401 `STEP_UP_REQUIRED`: send its `acr_values` as `acr`, and
        its `max_age` if you like. The answer is a challenge in the shape of that of a login. Ask
        the user for one of `methods`: the password, a code of the authenticator app or a backup
        code, or a passkey with the options in `passkey`. Send it with `temp_token` to
        `POST /step-up/verify`.

        `acr` is `aal1` (any proof), `aal2` (two factors), `phr` (a passkey that verifies its user),
        `phrh` (the same in attested hardware), or `own`, the default: two factors of a user who has
        a second one, otherwise any proof.

        403 `STEP_UP_UNAVAILABLE`: the user has no method for this level. `enrol` lists those that
        would be one; if it is empty, ask the user to log in again.
        """
        fields, caller = self.read(StepUpIn), self.identity
        offer = step_up.challenge(caller.person, caller.session, caller.record, Need(fields["acr"]))
        data: StepUpData = {
            "temp_token": offer.temp_token.reveal(),
            "acr": offer.acr,
            "methods": list(offer.methods),
            **offer.options,  # type: ignore[typeddict-item]
            "message": _ENTER,
        }
        shown = cast(StepUpData, responses.shown(data))
        body: SteppingUp = {
            "status": "challenge",
            "user": {"id": caller.person.id, "email": caller.person.email},
            "challenges": [{"type": "step_up", "data": shown}],
            "message": responses.CHALLENGED,
        }
        return answer(body)


class VerifyStepUp(Endpoint):
    @operation(
        body=StepUpVerifyIn,
        answer=SteppedUp,
        faults=(
            errors.InvalidCredentials,
            errors.StepUpRequired,
            errors.TwoFactorRefused,
            InvalidToken,
            ServiceUnavailable,
            TooManyAttempts,
        ),
        id="verifyStepUp",
    )
    def verify(self) -> HttpResponse:
        """Complete a step-up

        Send `temp_token` of the challenge and exactly one of `password`, `code` and `credential`.
        Store the new access token and repeat the request that was refused. The refresh token does
        not change, and the session keeps its lifetime.

        401 `INVALID_CREDENTIALS`, `TWO_FACTOR_INVALID` or `PASSKEY_INVALID`: the proof is wrong;
        ask again. 401 `INVALID_TOKEN`: the `temp_token` is older than 5 minutes, was answered, or
        is of another session: begin again with `POST /step-up`. 401 `STEP_UP_REQUIRED`: this proof
        does not reach the level. Each wrong proof counts as at a login, and 429
        `TOO_MANY_ATTEMPTS` asks to wait.
        """
        fields, caller = self.read(StepUpVerifyIn), self.identity
        method = self.one_of(fields, *StepUpVerifyIn.exactly_one)
        proof = Answer(
            "passkey" if method == "credential" else method,
            fields["password"],
            fields["code"],
            fields["credential"],
        )
        level = step_up.answer(
            caller.person, caller.session, caller.record, fields["temp_token"], proof, self.client
        )
        access_token, seconds = access_tokens.issue(caller.person, caller.session)
        body: SteppedUp = {
            "access_token": access_token.reveal(),
            "expires_in": seconds,
            "acr": level,
            "message": phrase("Confirmed."),
        }
        return responses.issue(body, Tokens(access_token, Secret(""), seconds))


def login_paths() -> list[URLPattern]:
    """The routes of a login module, below the mount of the service. Those of a step-up are in
    `core/urls.py`: every project has them."""
    return [
        path("login", Login.as_view({"post": "log_in"}), name="login"),
        path("refresh", Refresh.as_view({"post": "refresh"}), name="refresh"),
        path("logout", Logout.as_view({"post": "log_out"}), name="logout"),
    ]
