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
from authservice.core.api.authentication import live_caller
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.responses import Challenged
from authservice.kernel import errors as general
from authservice.kernel.http import cookies
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.operations import operation
from authservice.kernel.phrases import phrase
from authservice.kernel.secret import Secret
from authservice.oauth import errors, flow, registry
from authservice.oauth.conf import conf
from authservice.oauth.flow import Linked, Parameters
from authservice.oauth.serializers import CallbackIn, ProviderLinked, SignedInByProvider
from authservice.oauth.sign_in import SignedIn
from authservice.oauth.views import outcomes

_FAULTS = (*outcomes.PROVIDER_FAULTS, *outcomes.LOGIN_FAULTS, errors.ProviderRefused)
_ONWARD = (
    "The front end, with tokens, a challenge or `linked` in the fragment, or with an error in the"
    " query, where one is set."
)


class Callback(Endpoint):
    """State and cookie are the proof of a callback, so it needs no CSRF token."""

    public = True
    guard_exempt = True
    takes_form = True

    @operation(
        "Where a provider sends the browser back to",
        query=CallbackIn,
        # None for a HEAD request or a browser prefetch: the code stays unused.
        answer=SignedInByProvider | Challenged | ProviderLinked | None,
        redirect=_ONWARD,
        faults=_FAULTS,
        id="followProvider",
    )
    def follow(self, provider: str) -> HttpResponse:
        if self.is_prefetch:
            return answer()
        return self._arrive(provider, self.read_query)

    @operation(
        "The same for providers that send a form (Apple)",
        body=CallbackIn,
        answer=SignedInByProvider | Challenged | ProviderLinked,
        redirect=_ONWARD,
        faults=(*_FAULTS, general.MethodNotAllowed),
        id="receiveProvider",
    )
    def receive(self, provider: str) -> HttpResponse:
        if not self._takes_post():
            raise general.MethodNotAllowed(headers={"Allow": self._allowed()})
        return self._arrive(provider, self.read)

    def refuse(self, fault: general.Fault) -> HttpResponse:
        # A wrong method is no callback: no provider sends a browser with it.
        url = "" if isinstance(fault, general.MethodNotAllowed) else _error_url()
        if not url:
            return super().refuse(fault)
        response = redirects.refusal_in_query(fault, to=url)
        for name, value in fault.headers.items():
            response.headers[name] = value
        return response

    def _allowed(self) -> str:
        methods = super()._allowed().split(", ")
        return ", ".join(one for one in methods if one != "POST" or self._takes_post())

    def _takes_post(self) -> bool:
        """Whether this provider sends forms. For an unknown one the error is that it is unknown."""
        found = registry.get(self.kwargs["provider"])
        return found is None or found.form_post

    def _arrive(self, provider: str, read: Callable[[Any], dict[str, Any]]) -> HttpResponse:
        # The parameters are in no local variable: error reports print those of each frame.
        result = self._complete(provider, Parameters(_texts(read(CallbackIn))))
        if isinstance(result, Linked):
            return _linked(result)
        return redirects.login(
            result.outcome,
            to=conf.default_redirect_url,
            message=outcomes.DONE,
            more=outcomes.further_fields(result),
        )

    def _complete(self, provider: str, parameters: Parameters) -> SignedIn | Linked:
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


def _linked(result: Linked) -> HttpResponse:
    if conf.default_redirect_url:
        return redirects.result({"linked": result.provider}, to=conf.default_redirect_url)
    body: ProviderLinked = {
        "status": "linked",
        "message": phrase("The provider was linked."),
        "provider": result.provider,
    }
    return answer(body)


def _error_url() -> str:
    """The error page of the front end, or "". Settings that cannot be read have none: they are the
    error that the response reports."""
    try:
        return str(conf.error_redirect_url)
    except ImproperlyConfigured:
        return ""


def _texts(given: dict[str, Any]) -> dict[str, str]:
    """The parameters as the provider sent them; empty ones are left out."""
    texts = {
        name: value.reveal() if isinstance(value, Secret) else value
        for name, value in given.items()
    }
    return {name: text for name, text in texts.items() if text}
