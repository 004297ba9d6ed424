"""All routes of the URLconf, and how callers prove who they are: access tokens as security schemes,
and the headers that request guards require as parameters.

A guard is no security scheme: generated clients send the access token by every scheme.

Sections, which become tags, give the description its order. Paths are in the order in which a
client uses them, from a sign-up to administration. The paths of a module that is not installed are
ignored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.urls import get_resolver
from django.utils import translation

from authservice.core.api.callers import accepts_cookies
from authservice.kernel.http import envelope
from authservice.kernel.http.operations import Operation
from authservice.kernel.interfaces import RequestGuard
from authservice.kernel.modules import plugs
from authservice.kernel.sections import cookies as token_cookies

_WORD = re.compile(r"\w+")
_PARAMETER = re.compile(r"<(?:[^>:]+:)?([^>]+)>")
# The first words of operation ids, by method.
_VERBS = {"get": "get", "post": "create", "put": "update", "patch": "patch", "delete": "delete"}
_BEARER = {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
# By `required_of_all()`: whether clients without cookies must send the header too.
_REQUIRED = {
    True: "Every client must send it.",
    False: "Browsers must send it, and clients that send cookies instead of a bearer token.",
}
# The default of all operations.
EVERYWHERE: list[dict[str, Any]] = [{"bearer": []}]


@dataclass(frozen=True, kw_only=True)
class Route:
    """One method of a path. `path` is in OpenAPI syntax, without the mount; `parameters` are its
    converters by name; `action` is the name of the view's method and `operation` its declaration,
    or None; `alone` is true if the path has no other method, `public` if no access token is needed,
    `guarded` if request guards, if installed, check the route."""

    name: str
    path: str
    parameters: Mapping[str, Any]
    method: str
    view: Any
    action: str
    operation: Operation | None
    alone: bool
    public: bool
    guarded: bool

    @property
    def takes_body(self) -> bool:
        """Whether `Endpoint` reads the body: that of every method that is not safe."""
        return self.method != "get"

    @property
    def id(self) -> str:
        """The operation id, such as `signup`, `getMe` or `deleteSession`: the declared one, or the
        route's name, with a verb unless POST is the only method."""
        declared = self.operation.id if self.operation else ""
        words = self.name.split("-")
        if self.method != "post" or not self.alone:
            words.insert(0, _VERBS[self.method])
        return declared or words[0] + "".join(word.capitalize() for word in words[1:])

    @property
    def describes_itself(self) -> bool:
        """Whether the route serves the description or its pages, which clients do not call."""
        return bool(self.view.__module__.startswith("authservice.openapi."))

    @property
    def security(self) -> dict[str, Any]:
        """`security` of the operation if it is not the default. A request must satisfy one entry of
        the list."""
        if self.public:
            return {"security": []}
        security: list[dict[str, Any]] = [{name: []} for name in token_schemes()]
        return {} if security == EVERYWHERE else {"security": security}


def routes() -> list[Route]:
    """All routes in the order of the URLconf, which is flat, except the one for unknown paths and
    the pages for people."""
    all_routes: list[Route] = []
    patterns: list[Any] = get_resolver("authservice.urls").url_patterns
    for pattern in patterns:
        if pattern.name == "unknown" or not hasattr(pattern.callback, "cls"):
            continue
        view, actions = pattern.callback.cls, pattern.callback.actions
        path = "/" + _PARAMETER.sub(r"{\1}", str(pattern.pattern))
        methods = [method for method in actions if method != "head"]
        all_routes += [
            Route(
                # A route of an app of the project may have no name.
                name=pattern.name or "-".join(_WORD.findall(path)),
                path=path,
                parameters=pattern.pattern.converters,
                method=method,
                view=view,
                action=actions[method],
                operation=getattr(getattr(view, actions[method]), "operation", None),
                alone=len(methods) == 1,
                public=view.is_public(actions[method]),
                guarded=method != "get" and not view.guard_exempt,
            )
            for method in methods
        ]
    return all_routes


def token_schemes() -> dict[str, dict[str, str]]:
    """The ways to send an access token, by name."""
    if not accepts_cookies():
        return {"bearer": _BEARER}
    name = envelope.cookie_name(token_cookies.access_name)
    return {"bearer": _BEARER, "cookie": {"type": "apiKey", "in": "cookie", "name": name}}


def guard_headers() -> list[str]:
    """The header of each installed request guard."""
    return [guard.header() for guard in plugs(RequestGuard) if guard.header()]


def guard_parameters() -> list[dict[str, Any]]:
    """The header of each installed request guard, as a parameter. The parameter is optional,
    because clients add the header to all requests in one place instead of naming it with each."""
    return [
        {
            "name": guard.header(),
            "in": "header",
            "description": f"{_REQUIRED[guard.required_of_all()]} Obtained from `GET /csrf-token`.",
            "schema": {"type": "string"},
        }
        for guard in plugs(RequestGuard)
        if guard.header()
    ]


@dataclass(frozen=True)
class Section:
    """A tag, its description, and its paths; a path includes those below it."""

    name: str
    text: str
    paths: tuple[str, ...]


SECTIONS = (
    Section(
        "Sign-up",
        "Create an account, and verify its e-mail address or phone number.",
        (
            *("/signup", "/is-available", "/verify-email"),
            *("/send-verification-email", "/resend-verification-email", "/verify-phone"),
            *("/send-verification-phone", "/resend-verification-phone"),
        ),
    ),
    Section(
        "Login",
        "Log in with a password, answer the challenge of a second factor, refresh the tokens,"
        " confirm a login again and log out.",
        ("/login", "/2fa/verify-login", "/2fa/setup-login", "/refresh", "/step-up", "/logout"),
    ),
    Section(
        "Account",
        "Show, change, export and delete the account of the signed-in user.",
        (
            *("/me", "/profile", "/change-username", "/change-email"),
            *("/me/delete", "/me/export", "/account/delete", "/account/secure"),
        ),
    ),
    Section(
        "Passwords",
        "Change the password, or set a new one with a link or a code.",
        ("/change-password", "/forgot-password", "/reset-password"),
    ),
    Section(
        "Two-factor authentication",
        "Set up and disable the authenticator app and the backup codes of the signed-in user.",
        ("/2fa/status", "/2fa/setup", "/2fa/verify", "/2fa/backup-codes", "/2fa/disable"),
    ),
    Section("Magic links", "Sign in with a mailed link or code.", ("/magic-link",)),
    Section(
        "Passkeys",
        "Sign in with a passkey, and manage the passkeys of the signed-in user.",
        ("/passkeys/login", "/passkeys"),
    ),
    Section(
        "Social login",
        "Sign in with an identity provider, and link or unlink it.",
        ("/oauth/providers", "/oauth/linked", "/oauth"),
    ),
    Section("Sessions", "List and end the sessions of the signed-in user.", ("/sessions",)),
    Section(
        "Invitations",
        "Invite people to the service, accept and decline.",
        ("/invitations",),
    ),
    Section(
        "Organizations",
        "Create organizations, switch between them, and manage members and invitations.",
        ("/org", "/org/my", "/org/switch", "/org/invitations", "/org/{org_id}"),
    ),
    Section("Audit log", "What happened to the signed-in user's account.", ("/me/audit",)),
    Section(
        "Administration",
        "Manage users, and read the audit log of all of them. For super admins.",
        ("/admin/users", "/admin/audit", "/admin/audit/cleanup"),
    ),
    Section(
        "Discovery",
        "The CSRF token, and the public keys of access tokens.",
        ("/csrf-token", "/.well-known"),
    ),
)


def ordered(routes: list[Route]) -> list[Route]:
    """The routes in the order of the sections; those of no section at the end."""
    return sorted(routes, key=lambda route: _place(route.path) or (len(SECTIONS), 0))


def tag(route: Route) -> str:
    """The section of a route; for a route of no section, the readable name of its app."""
    place = _place(route.path)
    if place:
        return SECTIONS[place[0]].name
    app = apps.get_containing_app_config(route.view.__module__)
    with translation.override(None):  # the description is in English
        return str(app.verbose_name) if app else ""


def tags(used: list[str]) -> list[dict[str, str]]:
    """The tags in use, with their descriptions."""
    texts = {section.name: section.text for section in SECTIONS}
    return [
        {"name": name, **({"description": texts[name]} if name in texts else {})}
        for name in dict.fromkeys(used)
    ]


def _place(path: str) -> tuple[int, int] | None:
    """The numbers of the section and of its path. The longest path of all sections decides."""
    matches = [
        (len(entry), (number, place))
        for number, section in enumerate(SECTIONS)
        for place, entry in enumerate(section.paths)
        if f"{path}/".startswith(f"{entry}/")
    ]
    return max(matches)[1] if matches else None
