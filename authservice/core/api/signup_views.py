"""Signing up, and the public keys."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from django.http import HttpResponse, JsonResponse

from authservice.core import errors
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
from authservice.kernel.errors import ServiceUnavailable, invalid
from authservice.kernel.http.operations import Raw, operation
from authservice.kernel.phrases import phrase

_JWKS_SECONDS = 300


class Key(TypedDict):
    """A public key (RFC 7517): `OKP` has `crv` and `x`, `EC` also `y`, `RSA` has `n` and `e`."""

    kty: Literal["OKP", "EC", "RSA"]
    kid: str
    alg: Literal["EdDSA", "Ed25519", "ES256", "RS256"]
    use: Literal["sig"]
    crv: NotRequired[str]
    x: NotRequired[str]
    y: NotRequired[str]
    n: NotRequired[str]
    e: NotRequired[str]


class PublicKeys(TypedDict):
    """A JSON Web Key Set (RFC 7517 section 5)."""

    keys: list[Key]


class Signup(Endpoint):
    public = True
    throttle_scopes = {"sign_up": "signup"}

    @operation(
        body=SignupIn,
        answer=Authenticated | VerificationRequired | Sent,
        status=201,
        also={200: Challenged},
        faults=(
            errors.Conflict,
            errors.InvalidPassword,
            errors.PhoneAlreadyInUse,
            ServiceUnavailable,
            errors.SignupDisabled,
            errors.UserAlreadyExists,
            errors.UsernameAlreadyExists,
        ),
        id="signUp",
    )
    def sign_up(self) -> HttpResponse:
        """Create an account

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
        given = self.read(SignupIn)
        if not given["email"] and not given["username"]:
            raise invalid("email", phrase("Either email or username is required."))
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

    @operation(
        answer=Raw(body=PublicKeys),
        answered=(
            "The keys that sign now, that will sign next, and whose tokens may still be valid."
        ),
    )
    def read_keys(self) -> HttpResponse:
        """Public keys of access tokens

        The public keys with which other services verify access tokens (RFC 7517), without the
        envelope. Cache them, and look again if a token names an unknown `kid`. The list is empty
        while tokens are signed with a shared secret.
        """
        response = JsonResponse({"keys": signing_keys.ring().published()})
        response.headers["Cache-Control"] = f"public, max-age={_JWKS_SECONDS}"
        return response
