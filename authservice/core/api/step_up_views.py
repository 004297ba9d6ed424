"""The step-up: a signed-in user proves a level again, or a stronger one."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict, cast

from django.http import HttpResponse

from authservice.core import errors
from authservice.core.api import responses
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.responses import (
    ChallengedUser,
    PasskeyOptions,
)
from authservice.core.api.serializers import StepUpIn, StepUpVerifyIn
from authservice.core.login import step_up
from authservice.core.login.step_up import Answer, Need
from authservice.core.sessions.sessions import Tokens
from authservice.core.tokens import signing
from authservice.kernel import levels
from authservice.kernel.errors import (
    InvalidToken,
    ServiceUnavailable,
    TooManyAttempts,
)
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.operations import Is, Named, operation
from authservice.kernel.languages import phrase
from authservice.kernel.secret import Secret

_CONFIRM = phrase("Confirm that it is you to continue.")
Acr = Annotated[str, Is(enum=list(levels.ORDER)), Named("AssuranceLevel")]


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
    path = "step-up"
    route = "step-up"

    @operation(
        "POST",
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
            "message": _CONFIRM,
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
    path = "step-up/verify"
    route = "step-up-verify"

    @operation(
        "POST",
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
        access_token, seconds = signing.issue_access_token(caller.person, caller.session)
        body: SteppedUp = {
            "access_token": access_token.reveal(),
            "expires_in": seconds,
            "acr": level,
            "message": phrase("Confirmed."),
        }
        return responses.issue(body, Tokens(access_token, Secret(""), seconds))
