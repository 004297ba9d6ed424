"""The route that a provider sends the browser back to.

Its refusals redirect to the error page of the front end, if one is set. That includes those that
come before the action or instead of it, such as the flood limit: JSON would leave the user in the
browser without a way back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.http import HttpResponse

from authservice.core.api import redirects
from authservice.core.api.callers import live_caller
from authservice.core.api.link_endpoint import LinkEndpoint
from authservice.core.api.responses import Challenged
from authservice.core.login import login
from authservice.kernel import errors as general
from authservice.kernel.errors import Fault
from authservice.kernel.http import cookies
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.operations import operation
from authservice.kernel.phrases import phrase
from authservice.kernel.secret import Secret
from authservice.oauth import errors, flow, registry
from authservice.oauth.conf import conf
from authservice.oauth.flow import Completed, Linked, Parameters
from authservice.oauth.serializers import (
    CallbackFormIn,
    CallbackIn,
    ProviderLinked,
    SignedInByProvider,
)
from authservice.oauth.sign_in import SignedIn

DONE = phrase("Signed in.")
PROVIDER_FAULTS = (errors.ProviderNotFound, errors.ProviderDisabled)
LOGIN_FAULTS = (
    errors.AccountLinkingDisabled,
    errors.AlreadyLinked,
    errors.EmailRequired,
    errors.EmailTaken,
    errors.SignupByProviderDisabled,
    errors.TokenExchangeRefused,
    errors.UserInfoUnavailable,
    errors.InvalidState,
    errors.StateExpired,
    errors.StateUsed,
    *login.REFUSALS,
)
_FAULTS = (*PROVIDER_FAULTS, *LOGIN_FAULTS, errors.ProviderRefused)
_ONWARD = (
    "The front end, with tokens, `status=signed_in` (with token cookies), a challenge or `linked`"
    " in the fragment, or with an error in the query, where one is set."
)


def further_fields(result: SignedIn) -> dict[str, Any]:
    """The fields that the response of such a login has in addition to those of every login."""
    return {
        "token_type": "Bearer",
        "is_new_user": result.is_new_user,
        "provider": result.provider,
    }


def at_error_page(fault: Fault) -> HttpResponse | None:
    """The redirect of a browser to the error page of the front end; None if no page is set."""
    url = _error_url()
    if not url:
        return None
    response = redirects.refusal_in_query(fault, to=url)
    for name, value in fault.headers.items():
        response.headers[name] = value
    return response


def _error_url() -> str:
    """Settings that cannot be read have no page: they are the error that the response reports."""
    try:
        return str(conf.error_redirect_url)
    except ImproperlyConfigured:
        return ""


class Callback(LinkEndpoint):
    """State and cookie are the proof of a callback, so it needs no CSRF token."""

    route = flow.CALLBACK
    public = True
    guard_exempt = True
    takes_form = True

    @operation(
        query=CallbackIn,
        # None for a HEAD request: the code stays unused.
        answer=SignedInByProvider | Challenged | ProviderLinked | None,
        redirect=_ONWARD,
        faults=_FAULTS,
        id="completeProviderLogin",
    )
    def follow(self, provider: str) -> HttpResponse:
        """Where a provider sends the browser back to

        The provider sends the browser here after its consent screen; a front end does not call it.
        The result goes to the front end by a redirect: tokens (with token cookies
        `status=signed_in`), `challenge=2fa` with `temp_token`, or `linked` in the fragment, or
        `error` and `error_description` in the query. Without an address of a front end it is JSON.

        It works once, in the browser that began the login, within the time that the service sets:
        otherwise `OAUTH_INVALID_STATE`, `OAUTH_STATE_USED` or `OAUTH_STATE_EXPIRED`, and the user
        begins again. 409 `OAUTH_EMAIL_EXISTS`: an account has this address, which the provider has
        not verified, or this user of the provider was removed from the account, or its password was
        reset in the last 72 hours. Ask the user to log in in another way, and to link the provider
        there.
        """
        if self.is_head:
            return answer()
        return self._arrive(provider, lambda: self.read_query(CallbackIn))

    @operation(
        body=CallbackFormIn,
        answer=SignedInByProvider | Challenged | ProviderLinked,
        redirect=_ONWARD,
        faults=(*_FAULTS, general.MethodNotAllowed),
        id="completeProviderLoginWithPost",
    )
    def receive(self, provider: str) -> HttpResponse:
        """The same for providers that send a form (Apple)

        The provider sends the browser here after its consent screen; a front end does not call it.
        The result goes to the front end by a redirect: tokens (with token cookies
        `status=signed_in`), `challenge=2fa` with `temp_token`, or `linked` in the fragment, or
        `error` and `error_description` in the query. Without an address of a front end it is JSON.

        It works once, in the browser that began the login, within the time that the service sets:
        otherwise `OAUTH_INVALID_STATE`, `OAUTH_STATE_USED` or `OAUTH_STATE_EXPIRED`, and the user
        begins again. 409 `OAUTH_EMAIL_EXISTS`: an account has this address, which the provider has
        not verified, or this user of the provider was removed from the account, or its password was
        reset in the last 72 hours. Ask the user to log in in another way, and to link the provider
        there.

        The same as `GET /oauth/{provider}/callback`, for providers that send a form.
        """
        if not self._takes_post():
            raise general.MethodNotAllowed(headers={"Allow": self._allowed()})
        return self._arrive(provider, lambda: self.read(CallbackFormIn))

    def refuse(self, fault: general.Fault) -> HttpResponse:
        # A wrong method is no callback: no provider sends a browser with it.
        wrong_method = isinstance(fault, general.MethodNotAllowed)
        redirected = None if wrong_method else at_error_page(fault)
        return redirected or super().refuse(fault)

    def _allowed(self) -> str:
        methods = super()._allowed().split(", ")
        return ", ".join(one for one in methods if one != "POST" or self._takes_post())

    def _takes_post(self) -> bool:
        """Whether this provider sends forms. For an unknown one the error is that it is unknown."""
        found = registry.get(self.kwargs["provider"])
        return found is None or found.form_post

    def _arrive(self, provider: str, read: Callable[[], dict[str, Any]]) -> HttpResponse:
        # The parameters are in no local variable: error reports print those of each frame.
        completed = self._complete(provider, Parameters(_texts(read())))
        result = completed.result
        if isinstance(result, Linked):
            return _linked(result, to=completed.onward)
        return redirects.login(
            result.outcome,
            to=completed.onward,
            message=DONE,
            more=further_fields(result),
        )

    def _complete(self, provider: str, parameters: Parameters) -> Completed:
        return flow.complete(
            flow.usable(provider),
            parameters,
            self._browser,
            self.client,
            caller=live_caller(self.request),
        )

    def _browser(self, name: str) -> Secret:
        """The cookie of the flow, which the response deletes."""
        self.on_response = lambda response: cookies.forget(response, name)
        return Secret(cookies.get(self.request, name))


def _linked(result: Linked, *, to: str) -> HttpResponse:
    if to:
        return redirects.result({"linked": result.provider}, to=to)
    body: ProviderLinked = {
        "status": "linked",
        "message": phrase("The provider was linked."),
        "provider": result.provider,
    }
    return answer(body)


def _texts(given: dict[str, Any]) -> dict[str, str]:
    """The parameters as the provider sent them; empty ones are left out."""
    texts = {
        name: value.reveal() if isinstance(value, Secret) else value
        for name, value in given.items()
    }
    return {name: text for name, text in texts.items() if text}
