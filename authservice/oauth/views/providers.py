"""Routes of the oauth module, except the callback.

The targets of redirects come from settings alone, the callback address from `API_URL`: neither a
parameter nor the Host header of a request changes them.
"""

from __future__ import annotations

from django.http import HttpResponse

from authservice.core.api import redirects, responses
from authservice.core.api.authentication import live_caller
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.responses import Challenged, MessageResponse
from authservice.core.recovery import recent_proof
from authservice.core.users.person import Person
from authservice.kernel import errors as general
from authservice.kernel import sections
from authservice.kernel.http import cookies
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.operations import operation
from authservice.kernel.phrases import phrase
from authservice.kernel.secret import Secret
from authservice.oauth import errors, flow, linking, native, registry
from authservice.oauth.conf import conf
from authservice.oauth.flow import Redirect
from authservice.oauth.serializers import (
    IssuedNonce,
    LinkedList,
    LinkIn,
    LinkStarted,
    NativeTokenIn,
    ProviderList,
    SignedInByProvider,
)
from authservice.oauth.views.outcomes import DONE, LOGIN_FAULTS, PROVIDER_FAULTS, further_fields

_NO_PASSWORD = Secret("")


class Providers(Endpoint):
    public = True

    @operation("List the providers", answer=ProviderList, id="listProviders")
    def list_all(self) -> HttpResponse:
        found = registry.configured().values()
        body: ProviderList = {
            "providers": [{"name": one.name, "enabled": one.enabled} for one in found]
        }
        return answer(body)


class LinkedProviders(Endpoint):
    @operation("List the providers that are linked", answer=LinkedList, id="listLinkedProviders")
    def list_own(self) -> HttpResponse:
        body: LinkedList = {"providers": linking.linked(self.identity.person)}
        return answer(body)


class Start(Endpoint):
    public_actions = frozenset({"start"})

    @operation(
        "Log in with a provider",
        # None for a HEAD request or a browser prefetch: no login is started.
        answer=None,
        redirect="The consent screen of the provider.",
        faults=(*PROVIDER_FAULTS, errors.ProviderRefused),
        id="startProviderLogin",
    )
    def start(self, provider: str) -> HttpResponse:
        chosen = flow.usable(provider)
        if self.is_prefetch:
            return answer()
        begun = flow.start(chosen)
        response = redirects.redirect(begun.url.reveal())
        _bind(response, begun)
        return response

    @operation(
        "Unlink a provider",
        answer=MessageResponse,
        faults=(errors.NotLinked, errors.LastLoginMethod),
        id="unlinkProvider",
    )
    def unlink(self, provider: str) -> HttpResponse:
        caller = self.identity
        linking.unlink(caller.person, caller.session, provider, self.client)
        return responses.message_response(phrase("The provider was unlinked."))


class Link(Endpoint):
    @operation(
        "Link a provider to one's own account",
        body=LinkIn,
        answer=LinkStarted,
        faults=(
            *PROVIDER_FAULTS,
            errors.ProviderRefused,
            general.InvalidCredentials,
            general.ReauthenticationRequired,
            general.TooManyAttempts,
        ),
        id="linkProvider",
    )
    def start(self, provider: str) -> HttpResponse:
        chosen, caller = flow.usable(provider), self.identity
        password = self.read(LinkIn).get("password", _NO_PASSWORD)
        recent_proof.require_recent(
            caller.person, caller.session, password, self.client, method="oauth-link"
        )
        begun = flow.start_linking(chosen, caller)
        started: LinkStarted = {"url": begun.url.reveal()}
        response = answer(started)
        _bind(response, begun)
        return response


class Nonce(Endpoint):
    public = True
    throttle_scopes = {"issue": "oauth-native"}

    @operation(
        "Get a nonce for an ID token",
        answer=IssuedNonce,
        faults=PROVIDER_FAULTS,
        id="issueProviderNonce",
    )
    def issue(self, provider: str) -> HttpResponse:
        nonce = native.issue_nonce(flow.usable(provider))
        body: IssuedNonce = {
            "nonce": nonce.reveal(),
            "expires_in": int(native.NONCE_TTL.total_seconds()),
        }
        return answer(body)


class Token(Endpoint):
    public = True
    throttle_scopes = {"trade": "oauth-native"}

    @operation(
        "Log in a native app with an ID token or a code",
        body=NativeTokenIn,
        answer=SignedInByProvider | Challenged,
        faults=(*PROVIDER_FAULTS, *LOGIN_FAULTS),
        id="tradeProviderToken",
    )
    def trade(self, provider: str) -> HttpResponse:
        chosen, given = flow.usable(provider), self.read(NativeTokenIn)
        if self.one_of(given, *NativeTokenIn.exactly_one) == "id_token":
            result = native.with_id_token(
                chosen, given["id_token"], given["nonce"], self.client, caller=self._caller
            )
        else:
            result = native.with_code(
                chosen,
                given["code"],
                given["code_verifier"],
                given["redirect_uri"],
                self.client,
                caller=self._caller,
            )
        return responses.login(result.outcome, message=DONE, more=further_fields(result))

    @property
    def _caller(self) -> Person | None:
        caller = live_caller(self.request)
        return caller.person if caller else None


def _bind(response: HttpResponse, begun: Redirect) -> None:
    """Bind the flow to the browser. Browsers send `Lax` cookies with a top-level navigation from
    another site, but not with a form; `None` requires HTTPS."""
    foreign = begun.form_post and sections.secure()
    samesite: cookies.SameSite = "None" if foreign else "Lax"
    cookies.put(
        response, begun.cookie, begun.browser.reveal(), ttl=conf.state_ttl, samesite=samesite
    )
