"""Routes of the oauth module, except the callback.

The targets of redirects come from settings alone, the callback address from `API_URL`: a parameter
can at most choose one of the settings, and the Host header changes nothing.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from authservice.core.api import redirects, responses
from authservice.core.api.callers import live_caller
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.link_endpoint import LinkEndpoint
from authservice.core.api.responses import Challenged, MessageResponse
from authservice.core.errors import InvalidCredentials
from authservice.core.recovery import recent_proof
from authservice.core.users.person import Person
from authservice.kernel import errors as general
from authservice.kernel import sections
from authservice.kernel.http import cookies, pages
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.listing import ArrayQuery, array_part, counted, total_of
from authservice.kernel.http.operations import operation
from authservice.kernel.phrases import phrase
from authservice.kernel.secret import Secret
from authservice.oauth import errors, flow, linking, native, registry, state
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
    StartIn,
)
from authservice.oauth.views import callback
from authservice.oauth.views.callback import DONE, LOGIN_FAULTS, PROVIDER_FAULTS, further_fields

_NO_PASSWORD = Secret("")
_NAVIGATE = phrase("Only a link that a user follows starts a login with a provider.")


class Providers(Endpoint):
    public = True

    @operation(answer=ProviderList, id="listProviders")
    def list_all(self) -> HttpResponse:
        """List the providers

        The providers that the service knows, for the buttons "Sign in with …". Show only those with
        `enabled`. A button is a plain link to `GET /oauth/{provider}`.
        """
        found = registry.configured().values()
        body: ProviderList = {
            "providers": [{"name": one.name, "enabled": one.enabled} for one in found]
        }
        return answer(body)


class LinkedProviders(Endpoint):
    @operation(
        query=ArrayQuery,
        answer=counted(LinkedList),
        id="listLinkedProviders",
    )
    def list_own(self) -> HttpResponse:
        """List the providers that are linked

        The names of the providers with which the signed-in user can log in, for the page of
        security settings. Together with `GET /oauth/providers` it says which ones can be added.
        """
        # Each provider at most once, so there are as many as the settings have or had.
        names = linking.linked(self.identity.person)
        body: LinkedList = {"providers": array_part(self.request.GET).cut(names)}
        return answer(body, headers=total_of(len(names)))


class Start(LinkEndpoint):
    route = "oauth"
    public_actions = frozenset({"start"})

    @operation(
        query=StartIn,
        # None for a HEAD request: no login is started.
        answer=None,
        redirect=(
            "The consent screen of the provider; for a browser that opens the address, also the"
            " error page of the front end, where one is set."
        ),
        faults=(*PROVIDER_FAULTS, errors.ProviderRefused),
        id="startProviderLogin",
        answered="A HEAD request: no login was begun.",
    )
    def start(self, provider: str) -> HttpResponse:
        """Log in with a provider

        Begins a login or a sign-up with a provider. Let the browser navigate here (a link, not
        `fetch`): it is redirected to the consent screen of the provider, and comes back by the
        callback to the page of the front end that the service has configured, or to `next`, if the
        service allows that address.

        400 `OAUTH_PROVIDER_DISABLED` and 404 `OAUTH_PROVIDER_NOT_FOUND`: do not show this provider.
        If the service has an error page, a browser that opens the address gets there instead of to
        JSON, with `error` and `error_description` in the query, unless the provider is unknown.
        """
        chosen = flow.usable(provider)
        if self.is_head:
            return answer()
        if not pages.is_navigation(self.request):
            # An image of another site would fill the browser with cookies of flows.
            raise general.ValidationFailed(_NAVIGATE)
        onward = self.read_query(StartIn)["next"]
        flow.require_return_url(onward)
        begun = flow.start(chosen, onward=onward)
        response = redirects.redirect(begun.url.reveal())
        _bind(self.request, response, begun)
        return response

    def refuse(self, fault: general.Fault) -> HttpResponse:
        # JSON would leave the user in the browser without a way back. A link to a provider that
        # does not exist is a mistake of the front end, which has to see it.
        visited = self.request.method == "GET" and pages.opened_by_browser(self.request)
        redirects_to_page = visited and not isinstance(fault, errors.ProviderNotFound)
        redirected = callback.at_error_page(fault) if redirects_to_page else None
        return redirected or super().refuse(fault)

    @operation(
        answer=MessageResponse,
        faults=(errors.NotLinked, errors.LastLoginMethod),
        id="unlinkProvider",
        answered="The provider was unlinked.",
    )
    def unlink(self, provider: str) -> HttpResponse:
        """Unlink a provider

        Removes a provider from the account of the signed-in user, who can no longer log in with
        it. The sessions that began with the provider end, except the one of this request, and the
        owner gets a mail that can undo it for 72 hours.

        400 `OAUTH_LAST_LOGIN_METHOD`: it is the only way to log in, so the user must set a password
        or link another provider first. 400 `OAUTH_NOT_LINKED`: it is not linked.
        """
        caller = self.identity
        linking.unlink(caller.person, caller.session, provider, self.client)
        return responses.message_response(phrase("The provider was unlinked."))


class Link(Endpoint):
    @operation(
        body=LinkIn,
        answer=LinkStarted,
        faults=(
            *PROVIDER_FAULTS,
            errors.ProviderRefused,
            InvalidCredentials,
            general.ReauthenticationRequired,
            general.TooManyAttempts,
        ),
        id="linkProvider",
    )
    def start(self, provider: str) -> HttpResponse:
        """Link a provider to one's own account

        Begins to link a provider to the account of the signed-in user. Send the request with
        credentials from a page on the same site, because it sets the cookie of the flow. Then
        navigate to `url`. The callback ends at the front end with `linked` in the fragment.

        403 `REAUTHENTICATION_REQUIRED`: send `password` too, because the session began more than
        10 minutes ago. 401 `INVALID_CREDENTIALS`: the password is wrong.
        """
        chosen, caller = flow.usable(provider), self.identity
        given = self.read(LinkIn)
        flow.require_return_url(given["next"])
        password = given.get("password", _NO_PASSWORD)
        recent_proof.require_recent(
            caller.person, caller.session, password, self.client, method="oauth-link"
        )
        begun = flow.start_linking(chosen, caller, onward=given["next"])
        started: LinkStarted = {"url": begun.url.reveal()}
        response = answer(started)
        _bind(self.request, response, begun)
        return response


class Nonce(Endpoint):
    public = True
    throttle_scopes = {"issue": "oauth-native"}

    @operation(
        answer=IssuedNonce,
        faults=PROVIDER_FAULTS,
        id="issueProviderNonce",
    )
    def issue(self, provider: str) -> HttpResponse:
        """Get a nonce for an ID token

        For native apps that use the SDK of the provider. Pass the `nonce` to the SDK, and send the
        ID token that it returns with the same nonce to `POST /oauth/{provider}/token`. A nonce
        works once, for 10 minutes.
        """
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
        body=NativeTokenIn,
        answer=SignedInByProvider | Challenged,
        faults=(*PROVIDER_FAULTS, *LOGIN_FAULTS),
        id="exchangeProviderToken",
    )
    def trade(self, provider: str) -> HttpResponse:
        """Log in a native app with an ID token or a code

        Logs a native app in with what the SDK of the provider returned: `id_token` with the `nonce`
        of `POST /oauth/{provider}/nonce`, or `code` with `code_verifier` and `redirect_uri`. The
        response is that of a login: tokens, or the challenge of a second factor.

        400 `OAUTH_TOKEN_EXCHANGE_FAILED`: the provider refused the code, or the token is not valid
        for this app. 409 `OAUTH_EMAIL_EXISTS`: log in in another way and link the provider there.
        One network can send 20 requests a minute.
        """
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


def _bind(request: HttpRequest, response: HttpResponse, begun: Redirect) -> None:
    """Bind the flow to the browser, which then forgets its oldest flows. Browsers send `Lax`
    cookies with a top-level navigation from another site, but not with a form; `None` requires
    HTTPS."""
    foreign = begun.form_post and sections.secure()
    samesite: cookies.SameSite = "None" if foreign else "Lax"
    for surplus in state.surplus_cookies(cookies.starting_with(request, state.COOKIES)):
        cookies.forget(response, surplus)
    cookies.put(
        response, begun.cookie, begun.browser.reveal(), ttl=conf.state_ttl, samesite=samesite
    )
