"""Signing up, and the public keys."""

from __future__ import annotations

from django.http import HttpResponse, JsonResponse

from authservice.core import answers, keyring, signup
from authservice.core.serializers import SignupIn
from authservice.core.signup import Newcomer
from authservice.kernel import errors
from authservice.kernel.http.views import Endpoint

_JWKS_SECONDS = 300


class Signup(Endpoint):
    public = True
    floods = {"sign_up": "signup"}

    def sign_up(self) -> HttpResponse:
        given = self.read(SignupIn)
        if not given["email"] and not given["username"]:
            raise errors.invalid("email", "Either email or username is required.")
        outcome = signup.sign_up(Newcomer(**given), self.client)
        if outcome is None:
            return answers.accepted()
        return answers.login(outcome, message="Signed up.", status=201)


class KeySet(Endpoint):
    """`GET /.well-known/jwks.json` (RFC 7517 section 5), outside the envelope as every client of
    it expects."""

    public = True

    def read_keys(self) -> HttpResponse:
        response = JsonResponse({"keys": keyring.ring().published()})
        response.headers["Cache-Control"] = f"public, max-age={_JWKS_SECONDS}"
        return response
