"""The base class of every view. The settings of the host project cannot change how it works.

The order of the steps is fixed: flood limit, method, guards, authentication, permission, body,
action. An unknown path or a wrong method is answered before the guards, since such a request
changes nothing.
Views are never atomic: under `ATOMIC_REQUESTS` an error would also roll back the count of the
attempt, and attempts would be unlimited. Each rule opens its own transaction instead.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, ClassVar

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.db import DatabaseError, connections, transaction
from django.http import HttpRequest, HttpResponse
from django.utils.functional import cached_property
from rest_framework import serializers
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import JSONParser
from rest_framework.renderers import JSONRenderer
from rest_framework.views import APIView
from rest_framework.viewsets import ViewSetMixin

from authservice.core.api import guarded_routes
from authservice.core.api.callers import (
    REFUSES_FORGED,
    SAFE_METHODS,
    by_cookie,
    has_bearer,
    identify,
    require_unforged,
)
from authservice.core.conf import step_up as conf
from authservice.core.login import step_up
from authservice.core.login.step_up import Need
from authservice.core.sessions.bearer import Caller
from authservice.core.users import host_fields
from authservice.kernel import clock, databases, errors, languages, throttling
from authservice.kernel.client import Client
from authservice.kernel.http import envelope, fields, incoming
from authservice.kernel.http.envelope import answer, crash, keep_from_caches, refusal
from authservice.kernel.http.incoming import client, count_request, is_escaped, request_id
from authservice.kernel.languages import phrase

_AMP = "amp;"
_SLASH = phrase("There is nothing at this address. No path of this service ends with a slash.")
_CHARACTERS = phrase("A text has characters that the database of this service cannot store.")


class Endpoint(ViewSetMixin, APIView):
    """A path of the service, whose actions are the methods with `@operation`.

    A class with a `path` in the views of a module is a route (`routing.py`): `path` is relative to
    the mount, and `route` is the name for `reverse`.
    `public` routes ignore credentials, valid or not; `public_actions` are the public ones of a path
    whose other methods require a user. `super_admin` routes require a super admin.
    `throttle_scopes` maps an action to its flood limit if that is not the general one.
    `strict_actions` ask for a fresh proof if `STEP_UP.ROUTES` is strict, as do all changes by super
    admins, and some requests to `strict_in_part`. `guard_exempt` routes need no CSRF token, because
    their body contains a secret that another site does not know. `takes_form` routes also accept
    forms, from pages without scripts. `is_visited` routes are opened by links: a browser that only
    prepares a visit gets nothing from them. A route that is not `is_counted` is called by a page,
    which has counted the request.
    """

    path: ClassVar[str]
    route: ClassVar[str]
    public: ClassVar[bool] = False
    public_actions: ClassVar[frozenset[str]] = frozenset()
    super_admin: ClassVar[bool] = False
    strict_actions: ClassVar[frozenset[str]] = frozenset()
    strict_in_part: ClassVar[frozenset[str]] = frozenset()
    guard_exempt: bool = False
    takes_form: bool = False
    is_visited: ClassVar[bool] = False
    is_counted: ClassVar[bool] = True
    throttle_scopes: ClassVar[dict[str, str]] = {}

    # Set for tools that read them; `dispatch` below ignores REST_FRAMEWORK of the host project.
    authentication_classes = ()
    permission_classes = ()
    throttle_classes = ()
    parser_classes = (JSONParser,)
    renderer_classes = (JSONRenderer,)
    content_negotiation_class = DefaultContentNegotiation
    versioning_class = None
    metadata_class = None
    # Schema generators of the host project skip these views: `authservice.openapi` describes them.
    schema = None

    action_map: dict[str, str]
    request_id: str
    identity: Caller  # not on a public route
    body: dict[str, Any]
    # Called with the response, success or error, before it is returned.
    on_response: Callable[[HttpResponse], None] | None = None

    @classmethod
    def actions(cls) -> dict[str, str]:
        """The name of the action for each HTTP method. Those of a parent class are not included."""
        return {
            method.lower(): name
            for name, member in vars(cls).items()
            if hasattr(member, "operation")
            for method in member.operation.methods
        }

    @classmethod
    def as_view(cls, actions: Any = None, **options: Any) -> Any:
        actions = actions or cls.actions()
        view = super().as_view(actions, **options)
        view.__dict__[REFUSES_FORGED] = True
        for alias in connections:
            view = transaction.non_atomic_requests(using=alias)(view)
        return view

    @classmethod
    def is_public(cls, action: str) -> bool:
        """Whether the action of this name needs no access token, for tools."""
        return cls.public or action in cls.public_actions

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        self.request_id = request_id(request)
        with clock.unit(), languages.chosen(request):
            response = self._answer(request, **kwargs)
        response.headers["X-Request-ID"] = self.request_id
        keep_from_caches(response)
        if envelope.cookies_are_unwanted(request):  # the client keeps none
            response.cookies.clear()
        return response

    def _answer(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        try:
            response = self._respond(request, **kwargs)
        except errors.Fault as fault:
            response = self.refuse(fault)
        except SuspiciousOperation:  # such as a query string of a thousand fields
            response = self.refuse(errors.ValidationFailed())
        except Exception as error:
            of_charset = isinstance(error, DatabaseError) and databases.is_of_charset(error)
            charset_fault = errors.ValidationFailed(_CHARACTERS) if of_charset else None
            response = self.refuse(charset_fault or crash(request, self.request_id, error))
            if charset_fault is None:
                # `crash` has logged or counted the error: Django must not log each response again.
                _mark_as_logged(response)
        if self.on_response:
            self.on_response(response)
        return response

    def refuse(self, fault: errors.Fault) -> HttpResponse:
        """The response to an error. A class whose errors have another shape overrides it."""
        return refusal(fault)

    def _respond(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        method = (request.method or "").lower()
        # Empty if the path has no action for the method.
        name = self.action_map.get("get" if method == "head" else method, "")
        scope = self.throttle_scopes.get(name)
        if scope:
            # By network: a program can have many device tokens.
            throttling.count(scope, self.client.network)
        elif self.is_counted:
            count_request(self.client)
        if is_escaped(request):  # a proxy's rules for a path do not cover `/logi%6e`
            raise errors.NotFound
        action = self._action(request, name)
        if self.is_visited and request.method == "GET" and incoming.is_prefetch(request):
            # Browsers show a prefetched success to a user who follows the link later, whatever
            # `Cache-Control` says. They drop this error, and request the page when it is needed.
            response = HttpResponse(status=503, headers={"Retry-After": "1"})
            del response.headers["Content-Type"]
            _mark_as_logged(response)  # it is no outage
            return response
        if request.method not in SAFE_METHODS:
            # Before the caller is identified: a client that sends its body slowly must not act with
            # a session or permission that was revoked in the meantime.
            incoming.receive_body(request)
            clock.complete()
            if not self.guard_exempt:
                # A public route ignores the header, so a made-up token proves nothing there.
                by_bearer = not self.is_public(action.__name__) and has_bearer(request)
                require_unforged(request, bearer=by_bearer)
        try:
            return databases.retry_on_deadlock(lambda: self._act(request, action, **kwargs))
        except DatabaseError:
            # A deferred constraint or a trigger of the host project may have refused the row at the
            # commit. `committing` turns that into a fault.
            with host_fields.committing():
                raise

    def _act(
        self, request: HttpRequest, action: Callable[..., HttpResponse], /, **kwargs: Any
    ) -> HttpResponse:
        # A retry after a deadlock runs all of this again and reads the rows again: the objects in
        # memory contain changes that were rolled back.

        # `is_public` is about the class. A view may also set `self.public` for one request.
        public = self.public or self.is_public(action.__name__)
        if not public and action != self._allow:
            self._identify(request)
            if (need := guarded_routes.needs().get(action.__func__)) is not None:  # type: ignore[attr-defined]
                self.require_proven(need)
        for name, text in kwargs.items():
            fields.require(name, text)
        if request.method not in SAFE_METHODS:
            self.body = (
                incoming.read_form(request) if self.takes_form else incoming.read_body(request)
            )
        return action(**kwargs)

    def _identify(self, request: HttpRequest) -> None:
        self.identity = identify(request)
        if request.method not in SAFE_METHODS:
            # Regardless of `STATELESS.CHECK`: a revoked session must not change anything.
            self.identity.require_live()
        if request.method not in SAFE_METHODS and by_cookie(request):
            require_unforged(request, self.identity.session_id)
        if self.super_admin:
            self.identity.require_super_admin(self.client)

    def require_proven(self, need: Need) -> None:
        """Raises `StepUpRequired` or `StepUpUnavailable` unless the row of the session has this
        proof."""
        self.identity.require_live()
        step_up.require(self.identity.person, self.identity.record, need)

    def require_proven_if_strict(self) -> None:
        """As `require_proven`, if `STEP_UP.ROUTES` is strict, for an action of `strict_in_part`:
        only some of its requests need the proof."""
        if conf.routes == "strict":
            self.require_proven(Need(max_age=conf.max_age))

    def _action(self, request: HttpRequest, name: str) -> Callable[..., HttpResponse]:
        """The action of this name, which the path has for the method of the request."""
        if name:
            action: Callable[..., HttpResponse] = getattr(self, name)
            return action
        if (request.method or "").lower() == "options":
            return self._allow
        raise errors.MethodNotAllowed(headers={"Allow": self._allowed()})

    def _allow(self, **_: Any) -> HttpResponse:
        return answer(headers={"Allow": self._allowed()})

    def _allowed(self) -> str:
        methods = {method.upper() for method in self.action_map} | {"OPTIONS"}
        return ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))

    @cached_property
    def client(self) -> Client:
        return client(self.request, self.request_id)

    @property
    def is_head(self) -> bool:
        """Whether the client only asks whether there is something at the address. Mail scanners
        ask that."""
        return self.request.method == "HEAD"

    @property
    def shown_to_people(self) -> bool:
        """Whether the client is a browser that accepts HTML, as opposed to a program."""
        return "text/html" in self.request.META.get("HTTP_ACCEPT", "").lower()

    @property
    def wants_json(self) -> bool:
        """Whether the client asks for JSON by name, which a browser that follows a link does
        not."""
        return "application/json" in self.request.META.get("HTTP_ACCEPT", "").lower()

    def one_of(self, values: dict[str, Any], *names: str) -> str:
        """The name of the one field that is not empty. Raises `ValidationFailed` if none or several
        are."""
        filled = [name for name in names if values[name]]
        if len(filled) != 1:
            choice = phrase("%(names)s and %(last)s", names=", ".join(names[:-1]), last=names[-1])
            rule = phrase("Exactly one of %(names)s is required.", names=choice)
            raise errors.invalid(names[0], rule)
        return filled[0]

    def read(self, schema: type[serializers.Serializer[Any]]) -> dict[str, Any]:
        """The body, validated by `schema`; unknown fields are ignored."""
        return fields.read(schema, self.body)

    def read_extra_fields(
        self, schema: type[serializers.Serializer[Any]], names: Collection[str]
    ) -> dict[str, Any]:
        """The fields `names` of the body, for a serializer of the host project: without those of
        `schema`, since an error report of that serializer must not show the password. Raises
        `ValidationFailed` for texts that no field takes; see `fields`."""
        extra_names = set(names).difference(fields.names(schema))
        values = {name: value for name, value in self.body.items() if name in extra_names}
        for name, value in values.items():
            fields.require_texts(name, value)
        return values

    def read_query(self, schema: type[serializers.Serializer[Any]]) -> dict[str, Any]:
        """The query string, validated by `schema`; unknown parameters are ignored.

        Some programs copy a link from the HTML of a mail as it is written there, with `&amp;`.
        """
        query = self.request.GET.dict()
        unescaped = {name.rpartition(_AMP)[2]: query[name] for name in query if _AMP in name}
        return fields.read(schema, {**unescaped, **query})


def _mark_as_logged(response: HttpResponse) -> None:
    """Keep Django from logging, and so from reporting, this response."""
    response.__dict__["_has_been_logged"] = True


class NotFoundEndpoint(Endpoint):
    """Answers 404 for every unknown path below the mount, regardless of the method."""

    public = True

    def _action(self, request: HttpRequest, name: str) -> Callable[..., HttpResponse]:
        if settings.DEBUG and request.path.endswith("/"):
            raise errors.NotFound(_SLASH)
        raise errors.NotFound

    def not_found(self) -> HttpResponse:  # the URLconf needs an action
        raise errors.NotFound
