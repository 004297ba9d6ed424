"""Login, refresh and logout: the routes that every login module has."""

from __future__ import annotations

from django.http import HttpResponse
from django.urls import URLPattern, path

from authservice.core.api import responses, token_cookies
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.responses import Authenticated, Challenged, MessageResponse, Refreshed
from authservice.core.api.serializers import LoginIn, RefreshIn
from authservice.core.login import login
from authservice.core.sessions import logout
from authservice.kernel import errors
from authservice.kernel.http.operations import operation
from authservice.kernel.phrases import phrase


class Login(Endpoint):
    public = True

    @operation(
        "Log in with a password",
        body=LoginIn,
        answer=Authenticated | Challenged,
        faults=(
            errors.InvalidCredentials,
            errors.ServiceUnavailable,
            errors.TooManyAttempts,
            *login.REFUSALS,
        ),
    )
    def log_in(self) -> HttpResponse:
        given = self.read(LoginIn)
        self.one_of(given, *LoginIn.exactly_one)
        outcome = login.with_password(client=self.client, **given)
        return responses.login(outcome, message=phrase("Logged in."))


class Refresh(Endpoint):
    public = True

    @operation(
        "Exchange a refresh token for new tokens",
        body=RefreshIn,
        answer=Refreshed,
        faults=(errors.InvalidRefreshToken,),
    )
    def refresh(self) -> HttpResponse:
        issued = token_cookies.refresh(self)
        refreshed: Refreshed = {**responses.tokens(issued), "message": phrase("Tokens refreshed.")}
        return responses.issue(refreshed, issued)


class Logout(Endpoint):
    @operation("End this session", answer=MessageResponse)
    def log_out(self) -> HttpResponse:
        logout.log_out(self.identity.person, self.identity.session, self.client)
        return responses.logged_out()


def paths() -> list[URLPattern]:
    """The routes of a login module, below the mount of the service."""
    return [
        path("login", Login.as_view({"post": "log_in"}), name="login"),
        path("refresh", Refresh.as_view({"post": "refresh"}), name="refresh"),
        path("logout", Logout.as_view({"post": "log_out"}), name="logout"),
    ]
