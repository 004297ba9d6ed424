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
        CORE + "tokens/signing.py",
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
        without(" or _is_admin(request)"),
        (_VIEWS + "middleware.py",),
    ),
    Mutation(
        "The origin of a WebSocket that a cookie identifies",
        "authservice/channels.py",
        to("not incoming.is_trusted(origin, request)", "False"),
        (_VIEWS + "recipes.py",),
    ),
    Mutation(
        "The origin of a WebSocket that a session of the pages identifies",
        "authservice/channels.py",
        to("carried is not None or callers", "callers"),
        ("--ds=tests.pages.settings", "tests/pages/inside/test_web_socket.py"),
    ),
    Mutation(
        "The session of the pages that has ended, for a WebSocket",
        "authservice/channels.py",
        without("        carried.require_live()\n"),
        ("--ds=tests.pages.settings", "tests/pages/inside/test_web_socket.py"),
    ),
    Mutation(
        "Django's token of a user of the pages in a view that is exempt from its check",
        CORE + "api/identity.py",
        to(
            "        return not (callers.was_checked(self._request) or self._has_django_token)\n",
            "        return False\n",
        ),
        ("--ds=tests.pages.settings", "tests/pages/inside/test_exempt_views.py"),
    ),
    Mutation(
        "The user whom a middleware has read before the view was known",
        "authservice/middleware.py",
        to("        if type(request.user) is _Lazy:\n", "        if False:\n"),
        ("--ds=tests.pages.settings", "tests/pages/inside/test_exempt_views.py"),
    ),
    Mutation(
        "The organization of a forged request in views of the host",
        CORE + "api/identity.py",
        to("callers.require_caller(request)", "callers.identify(request)"),
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
        without("    if fault.status != 401:\n        return refusal(fault)\n"),
        (_VIEWS + "cookies.py",),
    ),
    Mutation(
        "The time of the login, which a refresh does not renew",
        "authservice/permissions.py",
        to("proof.at.timestamp()", 'caller.claims["iat"]'),
        (_VIEWS + "rest.py",),
    ),
    Mutation(
        "The second factor of a permission",
        "authservice/permissions.py",
        to('return caller.record.last("aal2") is not None', "return True"),
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
