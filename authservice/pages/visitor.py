"""A person who visits a page with a browser: who they are, what they sent, and what they get.

A page at the address of a route is for people: `GET` of a client that accepts HTML, and forms. All
other requests go to the route itself. Each form has Django's own CSRF token, which is checked here
whether or not the project has `CsrfViewMiddleware`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import wraps
from typing import Any, cast
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import auth
from django.contrib.auth import REDIRECT_FIELD_NAME, SESSION_KEY
from django.core import signing
from django.core.exceptions import SuspiciousOperation
from django.db import connections, transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.middleware.csrf import CsrfViewMiddleware, get_token
from django.shortcuts import resolve_url
from django.urls import reverse
from django.utils.encoding import iri_to_uri
from django.utils.functional import cached_property
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.csrf import csrf_exempt

from authservice.core.api import callers, django_session, identity, responses
from authservice.core.api import token_cookies as sessions_of_cookies
from authservice.core.api.endpoint import NotFoundEndpoint
from authservice.core.sessions import revocation
from authservice.core.sessions.bearer import Caller
from authservice.kernel import clock, errors, languages, secret
from authservice.kernel.errors import Fault
from authservice.kernel.http import envelope, incoming, pages
from authservice.kernel.http.envelope import HIDDEN, crash, keep_from_caches
from authservice.kernel.http.incoming import count_request, is_escaped, of_page, request_id
from authservice.kernel.link_pages import ResultPage
from authservice.kernel.secret import Secret
from authservice.kernel.sections import cookies as token_cookies
from authservice.pages import calls, form_fields, texts
from authservice.pages.calls import Answer
from authservice.pages.conf import conf
from authservice.pages.form_fields import NOTHING, Sent

_logger = logging.getLogger("django.security.csrf")
NEXT = REDIRECT_FIELD_NAME
_NEXT_COOKIE = "authservice_next"
_LONGEST_NEXT = 1024
_REMEMBER_COOKIE = "authservice_remember"
# How long the two cookies above are valid: as long as a login by a mail or a provider may take.
_RETURN_TTL = timedelta(hours=1)
# Set for as long as a page may take to send a visitor back.
_SENT_ON_COOKIE = "authservice_sent_on"
_SENT_ON_TTL = timedelta(seconds=10)
_NOTICE = "_authservice_notice"
_NOT_FOUND = NotFoundEndpoint.as_view({"get": "not_found"})

Show = Callable[["Visitor"], HttpResponse]


class Visitor:
    """The person who sent a request for a page.

    `submitted` is true if they sent a form of this site, on which the page acts. `stale` is true if
    they sent a form whose CSRF token is missing or old, so that they get the form again.
    """

    def __init__(self, request: HttpRequest) -> None:
        self.request = request
        self.submitted = self.stale = False
        self.sent = NOTHING
        self._check = _Check(lambda _: HttpResponse())  # `get_response` is never called
        self._cookies: list[HttpResponse] = []
        # The response whose new access token the browser of a token cookie gets.
        self._renewing: HttpResponse | None = None
        self._check.process_request(request)
        django_session.survive_deletion(request)  # pages store notices in the session

    def receive(self) -> None:
        """Read the form, and check its CSRF token."""
        try:
            length = incoming.body_length(self.request)
        except ValueError as error:
            raise errors.InvalidRequestBody from error
        if length > incoming.BODY_LIMIT:
            raise errors.RequestTooLarge
        # `csrf_exempt` is used as any view: it lacks the attribute that it sets, so it is checked.
        self.stale = bool(self._check.process_view(self.request, csrf_exempt, (), {}))
        self.submitted = not self.stale
        # The values of a form of another site are not shown: the visitor has not typed them.
        if self.submitted or pages.posted_here(self.request):
            self.sent = Sent(self.request.POST)

    @property
    def typed(self) -> Sent | None:
        """What to show again in the fields of a form."""
        return None if self.sent is NOTHING else self.sent

    @cached_property
    def caller(self) -> Caller | None:
        """The user of this browser, None for nobody. Raises `ServiceUnavailable`."""
        identification = identity.of(self.request)
        was_used = identification.was_used  # before `caller` reads the identity
        caller = identification.caller
        if caller is None or (caller.has_token and not callers.by_cookie(self.request)):
            return None  # a header does not identify the user of a page
        # The routes that the page calls need not read this user again, unless a middleware has read
        # it earlier: it may be old by now, because a client can send its form slowly.
        if not was_used:
            caller.share()
        return caller

    @property
    def person(self) -> Any:
        return self.caller and self.caller.person

    def call(
        self,
        route: str,
        method: str = "POST",
        body: Mapping[str, Any] | None = None,
        *,
        query: str = "",
        path: Mapping[str, str] | None = None,
    ) -> Answer:
        """Call a route as this user. What it sets in cookies goes to the browser."""
        answer = calls.call(
            self.request, route, method, body, caller=self.caller, query=query, path=path
        )
        self._cookies.append(answer.response)
        return answer

    def renew(self, answer: Answer) -> None:
        """Let this browser have the claims of the access token that a route has answered: in
        Django's session if that carries the session, otherwise in the cookie that it has already.
        The refresh token stays: no route that a page calls replaces it."""
        if self.caller is not None and self.caller.has_token:
            self._renewing = answer.response
        elif self.caller is not None:
            django_session.renew(self.request, Secret(answer.data["access_token"]))

    def data(self, route: str, query: str = "", path: Mapping[str, str] | None = None) -> Any:
        """What a route answers to GET. Raises its error."""
        answer = self.call(route, "GET", query=query, path=path)
        if answer.fault is not None:
            raise answer.fault
        return answer.data

    def show(self, template: str, context: Mapping[str, Any], *, status: int = 200) -> HttpResponse:
        """A page. Its form may lead to `home`, which may be on another host."""
        if "fields" in context:
            context = {**context, "fields": form_fields.with_focus(context["fields"])}
        session = getattr(self.request, "session", {})
        is_seen = self.request.method == "GET" and not incoming.is_prefetch(self.request)
        notice = str(session.pop(_NOTICE)) if is_seen and _NOTICE in session else ""
        full_context = {
            "csrf_token": get_token(self.request),
            "next": self.next,
            "notice": notice,
            "stale": self.stale,
            **context,
            "script": form_fields.script() + context.get("script", ""),
        }
        return pages.page(
            f"authservice/pages/{template}", full_context, status=status, onward=home()
        )

    def failed(self, fault: Fault) -> HttpResponse:
        """The page of an error that belongs to no form."""
        page = ResultPage(route="", status=fault.status, code=fault.code, message=fault.text)
        words = texts.of(page)
        context = {
            "heading": words.heading,
            "text": words.text,
            "failed": True,
            "log_in": reverse("authservice:page-login"),
        }
        response = self.show("result.html", context, status=fault.status)
        if "Retry-After" in fault.headers:
            response.headers["Retry-After"] = fault.headers["Retry-After"]
        return response

    def go(self, url: str, notice: str = "") -> HttpResponse:
        """Redirect after a form; the next page shows `notice` once."""
        if notice and hasattr(self.request, "session"):
            self.request.session[_NOTICE] = str(notice)
        return responses.redirect_to(url, status=303)

    def begin(self, access_token: Secret, *, remember: bool = False) -> None:
        """Let Django's session carry the session of this token. A session of token cookies that
        belongs to another user ends: one browser must not act for two users."""
        caller = django_session.begin(self.request, access_token, remember=remember)
        removed = HttpResponse()
        sessions_of_cookies.leave_other_user(self.request, removed, caller.person)
        self._cookies.append(removed)

    def sign_in(
        self, access_token: Secret, *, remember: bool = False, onward: str = ""
    ) -> HttpResponse:
        """Sign this browser in, and lead to where the user wanted to go, or to `onward`."""
        self.begin(access_token, remember=remember)
        response = self.go(onward or self.destination)
        envelope.forget_cookie(response, _NEXT_COOKIE)
        if self.remembered:
            envelope.forget_cookie(response, _REMEMBER_COOKIE)
        return response

    def send_on(self) -> HttpResponse:
        """Lead a user who is signed in to where they wanted to go."""
        response = self.go(self.destination)
        envelope.put_cookie(response, _SENT_ON_COOKIE, self.destination, ttl=_SENT_ON_TTL)
        return response

    @property
    def was_sent_on(self) -> bool:
        """Whether the page that `send_on` led to has sent them back at once."""
        return envelope.get_cookie(self.request, _SENT_ON_COOKIE) == self.destination

    @property
    def is_nobody(self) -> bool:
        """Whether neither Django's session nor a cookie of this browser is a valid login."""
        if identity.of(self.request).user.is_authenticated:
            return False
        return sessions_of_cookies.session_of(self.request) is None

    def sign_out(self) -> None:
        """End whatever this browser is signed in with."""
        if self.caller is not None:
            self.call("logout")
        # The route has ended Django's session with ours. A user who signed in to Django admin has
        # only one of Django.
        if SESSION_KEY in getattr(self.request, "session", {}):
            auth.logout(self.request)
        if session := sessions_of_cookies.session_of(self.request):
            revocation.end_carried(session, of_page(self.request))

    @property
    def next(self) -> str:
        """The page that the user wanted to see, "" if none was named, or one of another site."""
        return self._own(self.sent.get(NEXT) or self.request.GET.get(NEXT) or "")

    @property
    def destination(self) -> str:
        """Where a login leads: the page that was named, or remembered, or `home`."""
        if url := self.next:
            return url
        try:
            remembered = str(_signer().unsign(envelope.get_cookie(self.request, _NEXT_COOKIE)))
        except signing.BadSignature:
            return home()
        return self._own(remembered) or home()

    def keep_next(self, response: HttpResponse) -> None:
        """Remember the page for a login that comes back by a mail or a provider."""
        if self.next:
            envelope.put_cookie(response, _NEXT_COOKIE, _signer().sign(self.next), ttl=_RETURN_TTL)

    @property
    def remembered(self) -> bool:
        """Whether they chose to stay signed in before they left for a mail."""
        return envelope.get_cookie(self.request, _REMEMBER_COOKIE) == "on"

    def keep_remember(self, response: HttpResponse) -> None:
        """Remember the choice of this form for a login that comes back by a mail."""
        if "remember" in self.sent:
            envelope.put_cookie(response, _REMEMBER_COOKIE, "on", ttl=_RETURN_TTL)
        elif self.remembered:
            envelope.forget_cookie(response, _REMEMBER_COOKIE)

    def url(self, name: str, **query: str) -> str:
        """The address of a page, with the page that the user wanted to see."""
        parameters = {**query, **({NEXT: self.next} if self.next else {})}
        return reverse(f"authservice:{name}") + (f"?{urlencode(parameters)}" if parameters else "")

    def finish(self, response: HttpResponse) -> HttpResponse:
        """The response with the cookies of the routes that were called, but for new tokens: they
        would outlive the browser of a user who did not want to stay signed in. The access token of
        `renew` replaces one."""
        for called_response in self._cookies:
            dropped = callers.cookie_names()
            if called_response is self._renewing:
                dropped.discard(envelope.cookie_name(token_cookies.access_name))
            for name, cookie in called_response.cookies.items():
                if name not in dropped or not cookie.value:  # a removed cookie has no value
                    response.cookies[name] = cookie
        self._check.process_response(self.request, response)
        return response

    def _own(self, url: str) -> str:
        """The address if it is a path of this site or `home`, as headers need it; otherwise ""."""
        # `home` may be on another host. The project chose it: logins lead there without `next` too.
        if url in (home(), iri_to_uri(home())):
            return str(iri_to_uri(url))
        hosts = {self.request.get_host()}
        local = url.startswith("/") and url.isprintable() and len(url) <= _LONGEST_NEXT
        if not local or not url_has_allowed_host_and_scheme(
            url, hosts, require_https=self.request.is_secure()
        ):
            return ""
        return str(iri_to_uri(url))


def page(*, route: str = "", signed_in: bool = False) -> Callable[[Show], Any]:
    """A view of a page: a function that gets a `Visitor`.

    `route` is the route of the API at the same address. With `signed_in`, visitors who are not
    signed in are led to the login. Views are never atomic: an error would roll back the count of an
    attempt.
    """

    def made(show: Show) -> Any:
        @csrf_exempt
        @wraps(show)
        def view(request: HttpRequest) -> Any:
            if not is_for_people(request):
                return (calls.view(route) if route else _NOT_FOUND)(request)
            with clock.unit(), languages.chosen(request):
                visitor = Visitor(request)
                response = visitor.finish(_shown(visitor, show, signed_in))
            keep_from_caches(response)
            return response

        # Django's `LoginRequiredMiddleware` leaves the redirect to the login to the page.
        view.__dict__.update(route=route, login_required=False)
        view.__dict__[callers.REFUSES_FORGED] = True  # `Visitor.receive`, also for a stale form
        for alias in connections:
            view = transaction.non_atomic_requests(using=alias)(view)
        return view

    return made


def is_for_people(request: HttpRequest) -> bool:
    """Whether a browser opens the page or sends its form. Programs send forms too, but do not say
    that they accept HTML."""
    if "text/html" not in request.META.get("HTTP_ACCEPT", "").lower():
        return False
    return request.method != "POST" or request.content_type == incoming.FORM


def status_of(fault: Fault | None) -> int:
    """The status of a form that is shown again. 401 would make the browser ask for the
    credentials of an HTTP authentication."""
    if fault is None:
        return 200
    return 400 if fault.status == errors.Unauthorized.status else fault.status


def home() -> str:
    """Where a login leads that began on no other page."""
    if cast(Any, settings).is_overridden("LOGIN_REDIRECT_URL"):
        return str(resolve_url(settings.LOGIN_REDIRECT_URL))
    return conf.home_url or reverse("authservice:page-account")


def _shown(visitor: Visitor, show: Show, signed_in: bool) -> HttpResponse:
    request = visitor.request
    try:
        count_request(of_page(request))
        if request.method not in ("GET", "HEAD", "POST"):
            raise errors.MethodNotAllowed(headers={"Allow": "GET, HEAD, POST"})
        if is_escaped(request):  # the path in another spelling, such as `/logi%6e`
            raise errors.NotFound
        if request.method == "POST":
            visitor.receive()
        if signed_in and visitor.caller is None:
            return visitor.go(login_url(request))
        return show(visitor)
    except Fault as fault:
        if signed_in and (step_up := identity.step_up_page(request, fault)):
            return visitor.go(step_up)
        if signed_in and fault.status == errors.Unauthorized.status:
            return visitor.go(login_url(request))  # the session has ended meanwhile
        return visitor.failed(fault)
    except SuspiciousOperation:
        raise  # Django answers with 400
    except Exception as error:
        # Any field may be a secret, such as a second password of the project.
        request.POST = QueryDict(urlencode(dict.fromkeys(request.POST, HIDDEN)))
        return visitor.failed(crash(request, request_id(request), error))


def login_url(request: HttpRequest) -> str:
    query = urlencode({NEXT: request.get_full_path()})
    return f"{reverse('authservice:page-login')}?{query}"


def _signer() -> signing.Signer:
    """Signs the page in the cookie. Browsers send a cookie to all ports of a host: a project on
    another port may have set it."""
    return secret.signer("page-next")


class _Check(CsrfViewMiddleware):
    """Django's check of CSRF tokens, which logs the reason of a refusal as Django does, and returns
    it in place of a response."""

    def _reject(self, request: HttpRequest, reason: str) -> Any:
        details = {"status_code": 403, "request": request}
        _logger.warning("Forbidden (%s): %s", reason, request.path, extra=details)
        return reason
