"""Login, refresh and logout with access tokens."""

from __future__ import annotations

from django.http import HttpResponse

from authservice.core import answers, login, logout, refresh
from authservice.core.serializers import LoginIn, RefreshIn
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.views import Endpoint


class Login(Endpoint):
    public = True

    def log_in(self) -> HttpResponse:
        given = self.read(LoginIn)
        self.one_of(given, "email", "username")
        outcome = login.with_password(client=self.client, **given)
        return answers.login(outcome, message="Logged in.")


class Refresh(Endpoint):
    public = True

    def refresh(self) -> HttpResponse:
        given = self.read(RefreshIn)
        issued = refresh.refresh(given["refresh_token"], self.client)
        return answer({**answers.tokens(issued), "message": "Tokens refreshed."})


class Logout(Endpoint):
    def log_out(self) -> HttpResponse:
        logout.log_out(self.identity.person, self.identity.sign_in, self.client)
        return answer({"message": "Logged out."})
