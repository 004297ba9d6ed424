"""A person who visits a page with a browser: who they are, what they sent, and what they get.

A page at the address of a route is for people: `GET` of a client that accepts HTML, and forms. All
other requests go to the route itself. Each form has Django's own CSRF token, which is checked here
whether or not the project has `CsrfViewMiddleware`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import wraps
from typing import Any, cast
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import auth
from django.contrib.auth import REDIRECT_FIELD_NAME
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

from authservice.core.api import callers, django_session, identity, redirects
from authservice.core.api import token_cookies as sessions_of_cookies
from authservice.core.api.endpoint import NotFoundEndpoint
from authservice.core.sessions import revocation
from authservice.core.sessions.bearer import Caller
from authservice.kernel import clock, errors, languages
from authservice.kernel.errors import Fault
from authservice.kernel.http import body, cookies, pages
from authservice.kernel.http.envelope import HIDDEN, crash, keep_from_caches
from authservice.kernel.http.request_client import count_request, of_page, request_id
from authservice.kernel.link_pages import ResultPage
from authservice.kernel.mount import is_escaped
from authservice.kernel.secret import Secret
from authservice.kernel.sections import cookies as token_cookies
from authservice.pages import calls, form_fields, texts
from authservice.pages.calls import Answer
from authservice.pages.conf import conf
from authservice.pages.form_fields import NOTHING, Sent

NEXT = REDIRECT_FIELD_NAME
_NEXT_COOKIE = "authservice_next"
_LONGEST_NEXT = 1024
_NEXT_TTL = timedelta(hours=1)
_NOTICE = "_authservice_notice"
_NOT_FOUND = NotFoundEndpoint.as_view({"get": "not_found"})

Show = Callable[["Visitor"], HttpResponse]


class _Check(CsrfViewMiddleware):
    def _reject(self, request: HttpRequest, reason: str) -> Any:
        return reason


class Visitor:
    """`submitted` says that they sent a form of this site, which is to be acted upon; `stale` that
    they sent one whose CSRF token is missing or old, so that they get the form again."""

    def __init__(self, request: HttpRequest) -> None:
        self.request = request
        self.submitted = self.stale = False
        self.sent = NOTHING
        self._check = _Check(lambda _: HttpResponse())
        self._cookies: list[HttpResponse] = []
        self._check.process_request(request)

    def receive(self) -> None:
        """Read the form, and check its CSRF token."""
        try:
            length = body.length(self.request)
        except ValueError as error:
            raise errors.InvalidRequestBody from error
        if length > body.LIMIT:
            raise errors.RequestTooLarge
        self.stale = bool(self._check.process_view(self.request, csrf_exempt, (), {}))
        self.submitted = not self.stale
        # The form of another site is not shown to its visitor, whose name it would have then.
        if self.submitted or pages.posted_here(self.request):
            self.sent = Sent(self.request.POST)

    @property
    def typed(self) -> Sent | None:
        """What to show again in the fields of a form."""
        return None if self.sent is NOTHING else self.sent

    @cached_property
    def caller(self) -> Caller | None:
        """The user of this browser, None for nobody. Raises `ServiceUnavailable`."""
        found = identity.of(self.request).caller
        by_header = found and found.has_token and not callers.by_cookie(self.request)
        return None if by_header else found

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
        shown = {
            "csrf_token": get_token(self.request),
            "next": self.next,
            "notice": self._taken_notice(),
            "stale": self.stale,
            **context,
        }
        return pages.page(f"authservice/pages/{template}", shown, status=status, onward=home())

    def failed(self, fault: Fault) -> HttpResponse:
        """The page of an error that belongs to no form."""
        page = ResultPage(route="", status=fault.status, code=fault.code, message=fault.text)
        words = texts.of(page)
        context = {
            "heading": words.heading,
            "text": words.text,
            "failed": True,
            "home_url": reverse("authservice:page-login"),
        }
        response = self.show("result.html", context, status=fault.status)
        if "Retry-After" in fault.headers:
            response.headers["Retry-After"] = fault.headers["Retry-After"]
        return response

    def go(self, url: str, notice: str = "") -> HttpResponse:
        """Redirect after a form; the next page shows `notice` once."""
        if notice and hasattr(self.request, "session"):
            self.request.session[_NOTICE] = str(notice)
        return redirects.redirect(url, status=303)

    def sign_in(self, access_token: Secret, *, remember: bool = False) -> HttpResponse:
        """Sign this browser in, and lead to where the user wanted to go."""
        django_session.begin(self.request, access_token, remember=remember)
        response = self.go(self.destination)
        cookies.forget(response, _NEXT_COOKIE)
        return response

    @property
    def is_nobody(self) -> bool:
        """Whether neither Django's session nor a cookie of this browser is worth anything."""
        if identity.of(self.request).user.is_authenticated:
            return False
        return sessions_of_cookies.session_of(self.request) is None

    def sign_out(self) -> None:
        """End whatever this browser is signed in with."""
        if self.caller is not None:
            self.call("logout")
        # Of a user who has no session of ours, as after a login to Django admin.
        auth.logout(self.request)
        if left := sessions_of_cookies.session_of(self.request):
            revocation.end_carried(left, of_page(self.request))

    @property
    def next(self) -> str:
        """The page that the user wanted to see, "" if none was named, or one of another site."""
        return self._own(self.sent.get(NEXT) or self.request.GET.get(NEXT) or "")

    @property
    def destination(self) -> str:
        return self.next or self._own(cookies.get(self.request, _NEXT_COOKIE)) or home()

    def keep_next(self, response: HttpResponse) -> None:
        """Remember the page for a login that comes back by a mail or a provider."""
        if self.next:
            cookies.put(response, _NEXT_COOKIE, self.next, ttl=_NEXT_TTL)

    def url(self, name: str, **query: str) -> str:
        """The address of a page, with the page that the user wanted to see."""
        kept = {**query, **({NEXT: self.next} if self.next else {})}
        return reverse(f"authservice:{name}") + (f"?{urlencode(kept)}" if kept else "")

    def finish(self, response: HttpResponse) -> HttpResponse:
        """The response with the cookies of the routes that were called, but for new tokens: they
        would outlive the browser of a user who did not want to stay signed in."""
        tokens = {
            cookies.name(name) for name in (token_cookies.access_name, token_cookies.refresh_name)
        }
        for called in self._cookies:
            for name, cookie in called.cookies.items():
                if name not in tokens or not cookie.value:
                    response.cookies[name] = cookie
        self._check.process_response(self.request, response)
        return response

    def _taken_notice(self) -> str:
        session = getattr(self.request, "session", {})
        shown = self.request.method == "GET" and not pages.is_prefetch(self.request)
        return str(session.pop(_NOTICE)) if shown and _NOTICE in session else ""

    def _own(self, url: str) -> str:
        """The address if it is a path of this site, as headers need it; otherwise ""."""
        hosts = {self.request.get_host()}
        local = url.startswith("/") and url.isprintable() and len(url) <= _LONGEST_NEXT
        if not local or not url_has_allowed_host_and_scheme(
            url, hosts, require_https=self.request.is_secure()
        ):
            return ""
        return str(iri_to_uri(url))


def page(*, route: str = "", signed_in: bool = False) -> Callable[[Show], Any]:
    """A view of a page: a function that gets a `Visitor`.

    `route` is the route of the API at the same address. `signed_in` leads visitors to the login.
    Views are never atomic: an error would roll back the count of an attempt.
    """

    def made(show: Show) -> Any:
        @csrf_exempt
        @wraps(show)
        def view(request: HttpRequest) -> Any:
            if not is_for_people(request):
                return (calls.view(route) if route else _NOT_FOUND)(request)
            return _answer(request, show, signed_in)

        # Django's `LoginRequiredMiddleware` leaves it to the page.
        view.__dict__.update(route=route, login_required=False)
        for alias in connections:
            view = transaction.non_atomic_requests(using=alias)(view)
        return view

    return made


def is_for_people(request: HttpRequest) -> bool:
    """Whether a browser opens the page or sends its form. Programs send forms too, but do not say
    that they accept HTML."""
    if "text/html" not in request.META.get("HTTP_ACCEPT", "").lower():
        return False
    return request.method != "POST" or request.content_type == body.FORM


def status_of(fault: Fault | None) -> int:
    """The status of a form that is shown again. 401 would ask the browser for credentials of the
    protocol."""
    if fault is None:
        return 200
    return 400 if fault.status == errors.Unauthorized.status else fault.status


def home() -> str:
    """Where a login leads that began on no other page."""
    if cast(Any, settings).is_overridden("LOGIN_REDIRECT_URL"):
        return str(resolve_url(settings.LOGIN_REDIRECT_URL))
    return conf.home_url or reverse("authservice:page-account")


def _answer(request: HttpRequest, show: Show, signed_in: bool) -> HttpResponse:
    with clock.unit(), languages.chosen(request):
        visitor = Visitor(request)
        response = visitor.finish(_shown(visitor, show, signed_in))
    keep_from_caches(response)
    return response


def _shown(visitor: Visitor, show: Show, signed_in: bool) -> HttpResponse:
    request = visitor.request
    try:
        if request.method not in ("GET", "HEAD", "POST"):
            raise errors.MethodNotAllowed(headers={"Allow": "GET, HEAD, POST"})
        count_request(request)
        if is_escaped(request):
            raise errors.NotFound
        if request.method == "POST":
            visitor.receive()
        if signed_in and visitor.caller is None:
            return visitor.go(login_url(request))
        return show(visitor)
    except Fault as fault:
        if signed_in and fault.status == errors.Unauthorized.status:
            return visitor.go(login_url(request))  # the session has ended meanwhile
        return visitor.failed(fault)
    except SuspiciousOperation:
        raise
    except Exception as error:
        # Any field may be a secret, such as a second password of the project.
        request.POST = QueryDict(urlencode(dict.fromkeys(request.POST, HIDDEN)))
        return visitor.failed(crash(request, request_id(request), error))


def login_url(request: HttpRequest) -> str:
    wanted = request.get_full_path() if request.method in ("GET", "HEAD") else request.path
    return f"{reverse('authservice:page-login')}?{urlencode({NEXT: wanted})}"
