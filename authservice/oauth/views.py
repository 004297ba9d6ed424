"""Routes of the oauth module.

The targets of redirects come from settings alone, the callback address from `API_URL`: a parameter
can at most choose one of the settings, and the Host header changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest, HttpResponse

from authservice.core.api import identity, responses, token_cookies
from authservice.core.api.callers import signed_in_caller, signed_in_user
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.link_endpoint import LinkEndpoint
from authservice.core.api.responses import Challenged, MessageResponse
from authservice.core.errors import InvalidCredentials
from authservice.core.login import login
from authservice.core.recovery import recent_proof
from authservice.core.sessions import sessions
from authservice.core.users.person import Person
from authservice.kernel import errors as general
from authservice.kernel import sections
from authservice.kernel.http import envelope, incoming
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.listing import ArrayQuery, array_part, counted, total_of
from authservice.kernel.http.operations import operation
from authservice.kernel.languages import phrase
from authservice.kernel.secret import Secret
from authservice.oauth import errors, flow, linking, provider_settings, state
from authservice.oauth.conf import conf
from authservice.oauth.flow import Parameters, Redirect
from authservice.oauth.serializers import (
    CallbackFormIn,
    CallbackIn,
    IssuedNonce,
    LinkedList,
    LinkIn,
    LinkStarted,
    NativeTokenIn,
    ProviderLinked,
    ProviderList,
    SignedInByProvider,
    StartIn,
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
_NO_PASSWORD = Secret("")
_NAVIGATE = phrase("Only a link that a user follows starts a login with a provider.")


def further_fields(result: SignedIn) -> dict[str, Any]:
    """The fields that the response of such a login has in addition to those of every login."""
    return {
        "token_type": "Bearer",
        "is_new_user": result.is_new_user,
        "provider": result.provider,
    }


def at_error_page(fault: general.Fault) -> HttpResponse | None:
    """The redirect of a browser to the error page of the front end; None if no page is set."""
    try:
        url = str(conf.error_redirect_url)
    except ImproperlyConfigured:
        # Settings that cannot be read have no page: they are the error that the response reports.
        return None
    if not url:
        return None
    response = responses.redirect_refusal_in_query(fault, to=url)
    for name, value in fault.headers.items():
        response.headers[name] = value
    return response


class Providers(Endpoint):
    path = "oauth/providers"
    route = "oauth-providers"
    public = True

    @operation("GET", answer=ProviderList, id="listProviders")
    def list_all(self) -> HttpResponse:
        """List the providers

        The providers that the service knows, for the buttons "Sign in with …". Show only those with
        `enabled`. A button is a plain link to `GET /oauth/{provider}`.
        """
        entries = provider_settings.configured().values()
        body: ProviderList = {
            "providers": [{"name": entry.name, "enabled": entry.enabled} for entry in entries]
        }
        return answer(body)


class LinkedProviders(Endpoint):
    path = "oauth/linked"
    route = "oauth-linked"

    @operation(
        "GET",
        query=ArrayQuery,
        answer=counted(LinkedList),
        id="listLinkedProviders",
    )
    def list_own(self) -> HttpResponse:
        """List the providers that are linked

        The names of the providers with which the signed-in user can log in, for the page of
        security settings. Together with `GET /oauth/providers` it says which ones can be added.
        """
        # Read in full, and cut afterwards: no more than the providers that the settings have or
        # had, since each is linked at most once.
        names = linking.linked(self.identity.person)
        body: LinkedList = {"providers": array_part(self.request.GET).cut(names)}
        return answer(body, headers=total_of(len(names)))


class Start(LinkEndpoint):
    path = "oauth/<str:provider>"
    route = "oauth"
    public_actions = frozenset({"start"})
    strict_actions = frozenset({"unlink"})

    @operation(
        "GET",
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
        enabled_provider = flow.usable(provider)
        if self.is_head:
            return answer()
        if not incoming.is_navigation(self.request):
            # An image of another site would fill the browser with cookies of flows.
            raise general.ValidationFailed(_NAVIGATE)
        onward = self.read_query(StartIn)["next"]
        flow.require_return_url(onward)
        caller = signed_in_caller(self.request) if enabled_provider.form_post else None
        visitor = caller.session_id if caller else None
        started = flow.start(enabled_provider, visitor=visitor, onward=onward)
        response = responses.redirect_to(started.url.reveal())
        _bind(self.request, response, started)
        return response

    def refuse(self, fault: general.Fault) -> HttpResponse:
        # JSON would leave the user in the browser without a way back. A link to a provider that
        # does not exist is a mistake of the front end, which has to see it.
        visited = self.request.method == "GET" and incoming.opened_by_browser(self.request)
        redirects_to_page = visited and not isinstance(fault, errors.ProviderNotFound)
        redirected = at_error_page(fault) if redirects_to_page else None
        return redirected or super().refuse(fault)

    @operation(
        "DELETE",
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


class Callback(LinkEndpoint):
    """The route that a provider sends the browser back to. State and cookie are the proof of a
    callback, so it needs no CSRF token.

    Its refusals redirect to the error page of the front end, if one is set. That includes those
    that come before the action or instead of it, such as the flood limit: JSON would leave the user
    in the browser without a way back.
    """

    path = "oauth/<str:provider>/callback"
    route = flow.CALLBACK
    public = True
    guard_exempt = True
    takes_form = True

    @operation(
        "GET",
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
        "POST",
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
        return ", ".join(method for method in methods if method != "POST" or self._takes_post())

    def _takes_post(self) -> bool:
        """Whether this provider sends forms. True for an unknown one, so that the error is
        `ProviderNotFound` rather than `MethodNotAllowed`."""
        configured = provider_settings.find_provider(self.kwargs["provider"])
        return configured is None or configured.form_post

    def _arrive(self, provider: str, read: Callable[[], dict[str, Any]]) -> HttpResponse:
        # What was read is in no local variable: error reports print those of each frame, and of
        # `Parameters` they show nothing.
        parameters = Parameters(_texts(read()))
        completed = flow.complete(
            flow.usable(provider),
            parameters,
            self._take_cookie,
            self.client,
            caller=signed_in_user(self.request),
            signed_in=self._signed_in,
        )
        result, onward = completed.result, completed.onward
        if isinstance(result, SignedIn):
            extra_fields = further_fields(result)
            return responses.redirect_login(
                result.outcome, to=onward, message=DONE, more=extra_fields
            )
        if onward:
            return responses.redirect_result({"linked": result.provider}, to=onward)
        body: ProviderLinked = {
            "status": "linked",
            "message": phrase("The provider was linked."),
            "provider": result.provider,
        }
        return answer(body)

    def _signed_in(self) -> Iterator[Person]:
        """The users of Django's session, if it carries one of this service, and of a refresh token
        in a cookie."""
        if carried := identity.of(self.request).caller:
            yield carried.person
        session_id = token_cookies.session_of(self.request)
        match = session_id and sessions.find_for_request(session_id)
        if match and sessions.is_valid(*match):
            yield match[0]

    def _take_cookie(self, name: str) -> Secret:
        """The value of the cookie of the flow, which the response deletes."""
        self.on_response = lambda response: envelope.forget_cookie(response, name)
        return Secret(envelope.get_cookie(self.request, name))


class Link(Endpoint):
    path = "oauth/<str:provider>/link"
    route = "oauth-link"
    strict_actions = frozenset({"start"})

    @operation(
        "POST",
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
        enabled_provider, caller = flow.usable(provider), self.identity
        fields = self.read(LinkIn)
        flow.require_return_url(fields["next"])
        password = fields.get("password", _NO_PASSWORD)
        recent_proof.require_recent(
            caller.person, caller.session, password, self.client, method="oauth-link"
        )
        redirect = flow.start_linking(enabled_provider, caller, onward=fields["next"])
        started: LinkStarted = {"url": redirect.url.reveal()}
        response = answer(started)
        _bind(self.request, response, redirect)
        return response


class Nonce(Endpoint):
    path = "oauth/<str:provider>/nonce"
    route = "oauth-nonce"
    public = True
    throttle_scopes = {"issue": "oauth-native"}

    @operation(
        "POST",
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
        nonce = flow.issue_nonce(flow.usable(provider))
        body: IssuedNonce = {
            "nonce": nonce.reveal(),
            "expires_in": int(flow.NONCE_TTL.total_seconds()),
        }
        return answer(body)


class Token(Endpoint):
    path = "oauth/<str:provider>/token"
    route = "oauth-token"
    public = True
    throttle_scopes = {"trade": "oauth-native"}

    @operation(
        "POST",
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
        enabled_provider, fields = flow.usable(provider), self.read(NativeTokenIn)
        if self.one_of(fields, *NativeTokenIn.exactly_one) == "id_token":
            result = flow.with_id_token(
                enabled_provider,
                fields["id_token"],
                fields["nonce"],
                self.client,
                caller=signed_in_user(self.request),
            )
        else:
            result = flow.with_code(
                enabled_provider,
                fields["code"],
                fields["code_verifier"],
                fields["redirect_uri"],
                self.client,
                caller=signed_in_user(self.request),
            )
        return responses.login(result.outcome, message=DONE, more=further_fields(result))


def _bind(request: HttpRequest, response: HttpResponse, begun: Redirect) -> None:
    """Bind the flow to the browser, which then forgets its oldest flows. Browsers send `Lax`
    cookies with a top-level navigation from another site, but not with a form; `None` requires
    HTTPS."""
    foreign = begun.form_post and sections.secure()
    samesite: envelope.SameSite = "None" if foreign else "Lax"
    for surplus in state.surplus_cookies(envelope.cookies_starting_with(request, state.COOKIES)):
        envelope.forget_cookie(response, surplus)
    envelope.put_cookie(
        response, begun.cookie, begun.browser.reveal(), ttl=conf.state_ttl, samesite=samesite
    )


def _texts(parameters: dict[str, Any]) -> dict[str, str]:
    """The parameters as the provider sent them; empty ones are left out."""
    texts = {
        name: value.reveal() if isinstance(value, Secret) else value
        for name, value in parameters.items()
    }
    return {name: text for name, text in texts.items() if text}
