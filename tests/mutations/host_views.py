"""Views of the host project."""

from __future__ import annotations

from tests.mutations.kinds import CORE, Mutation, to, without

_VIEWS = "tests/host_views/test_"

HOST_VIEWS = (
    Mutation(
        "The CSRF pair of a change by cookie in views of the host",
        CORE + "api/callers.py",
        to("by_cookie(request) and changes and not passes_django(request)", "False"),
        (_VIEWS + "cookies.py",),
    ),
    Mutation(
        "Django's own check of a form in views of the host",
        CORE + "api/callers.py",
        to(
            "    return check.process_view(request, lambda _: HttpResponse(), (), {}) is None",
            "    return True",
        ),
        ("tests/csrf/test_django_forms.py",),
    ),
    Mutation(
        "The session of the cookies that a logout of Django ends",
        CORE + "api/identity.py",
        to("    if caller is not None and (unless", "    if False and (unless"),
        ("tests/csrf/test_two_sessions.py",),
    ),
    Mutation(
        "The session of another user that a login with cookies ends",
        CORE + "api/identity.py",
        to("    elif key:\n", "    elif False:\n"),
        ("tests/csrf/test_two_sessions.py",),
    ),
    Mutation(
        "The valid session of a caller of views of the host",
        CORE + "sessions/bearer.py",
        to("        if not self._live:\n", "        if False:\n"),
        (_VIEWS + "middleware.py",),
    ),
    Mutation(
        "The refusal of broken tokens that name us",
        CORE + "tokens/signing_keys.py",
        to('if header.get("kid") in self._kids:', "if False:"),
        (_VIEWS + "rest.py",),
    ),
    Mutation(
        "The precedence of an access token over Django's session",
        CORE + "api/identity.py",
        without("not by_header and "),
        (_VIEWS + "middleware.py",),
    ),
    Mutation(
        "The login of Django admin, which an access token does not replace",
        CORE + "api/identity.py",
        without(" or _is_admin(self._request)"),
        (_VIEWS + "middleware.py",),
    ),
    Mutation(
        "The origin of a WebSocket that a cookie identifies",
        "authservice/channels.py",
        to("not own_origins.is_trusted(origin, request)", "False"),
        (_VIEWS + "recipes.py",),
    ),
    Mutation(
        "The organization of a forged request in views of the host",
        CORE + "api/identity.py",
        to("callers.require_caller(self._request)", "callers.identify(self._request)"),
        ("--ds=tests.organization.settings", "tests/organization/inside/test_host_views.py"),
    ),
    Mutation(
        "The caches that would give the page of one user to another",
        CORE + "api/identity.py",
        without('    patch_vary_headers(response, ("Authorization", "Cookie"))\n'),
        (_VIEWS + "decorators.py",),
    ),
    Mutation(
        "The refusal of a forged request where others are redirected",
        CORE + "api/identity.py",
        without(" or fault.status != 401"),
        (_VIEWS + "cookies.py",),
    ),
    Mutation(
        "The time of the login, which a refresh does not renew",
        "authservice/permissions.py",
        to('caller.claims["auth_time"]', 'caller.claims["iat"]'),
        (_VIEWS + "rest.py",),
    ),
    Mutation(
        "The second factor of a permission",
        "authservice/permissions.py",
        to('return MFA in caller.claims["amr"]', "return True"),
        (_VIEWS + "rest.py",),
    ),
    Mutation(
        "The valid session of a caller of views with a permission",
        "authservice/permissions.py",
        without("            request.auth.require_live()\n"),
        (_VIEWS + "rest.py",),
    ),
    Mutation(
        "The scheme of a WebSocket over TLS, whose origin counts",
        "authservice/channels.py",
        to('"wss": "https"', '"wss": "http"'),
        (_VIEWS + "recipes.py",),
    ),
)
