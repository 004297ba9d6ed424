"""Signing up, and the public keys."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from django.http import HttpResponse, JsonResponse

from authservice.core.api import responses, signup_cookie
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.responses import (
    Authenticated,
    Challenged,
    Sent,
    VerificationRequired,
)
from authservice.core.api.serializers import SignupIn
from authservice.core.login import signup
from authservice.core.tokens import signing_keys
from authservice.core.users import further_fields
from authservice.core.users.creation import NewUser
from authservice.kernel import errors
from authservice.kernel.http.operations import Raw, operation
from authservice.kernel.phrases import phrase

_JWKS_SECONDS = 300


class Key(TypedDict):
    """A public key (RFC 7517): `OKP` has `crv` and `x`, `EC` also `y`, `RSA` has `n` and `e`."""

    kty: Literal["OKP", "EC", "RSA"]
    kid: str
    alg: Literal["EdDSA", "ES256", "RS256"]
    use: Literal["sig"]
    crv: NotRequired[str]
    x: NotRequired[str]
    y: NotRequired[str]
    n: NotRequired[str]
    e: NotRequired[str]


class Keys(TypedDict):
    """A JSON Web Key Set (RFC 7517 section 5)."""

    keys: list[Key]


class Signup(Endpoint):
    public = True
    throttle_scopes = {"sign_up": "signup"}

    @operation(
        "Create an account",
        body=SignupIn,
        answer=Authenticated | VerificationRequired | Sent,
        status=201,
        also={200: Challenged},
        faults=(
            errors.InvalidPassword,
            errors.PhoneAlreadyInUse,
            errors.ServiceUnavailable,
            errors.SignupDisabled,
            errors.UserAlreadyExists,
            errors.UsernameAlreadyExists,
        ),
    )
    def sign_up(self) -> HttpResponse:
        given = self.read(SignupIn)
        if not given["email"] and not given["username"]:
            raise errors.invalid("email", phrase("Either email or username is required."))
        rest = self.further(SignupIn, further_fields.names_at_signup())
        further = further_fields.at_signup(rest, self.request)
        outcome = signup.sign_up(NewUser(**given, further=further), self.client)
        if outcome is None:
            # No cookie, since it would differ by address.
            return responses.sent(responses.WRITTEN, status=201)
        response = responses.login(outcome, message=phrase("Signed up."), status=201)
        signup_cookie.put(response, given["email"])
        return response


class KeySet(Endpoint):
    """`GET /.well-known/jwks.json` (RFC 7517 section 5), outside the envelope as every client of
    it expects."""

    public = True

    @operation("Public keys of access tokens", answer=Raw(body=Keys))
    def read_keys(self) -> HttpResponse:
        response = JsonResponse({"keys": signing_keys.ring().published()})
        response.headers["Cache-Control"] = f"public, max-age={_JWKS_SECONDS}"
        return response
