"""What caches keep, which clients need no CSRF token, and where a login with a provider returns."""

from __future__ import annotations

from tests.mutations.kinds import CORE, HTTP, Mutation, to, without

_CACHES = "tests/contract/test_caches.py::"
_EXEMPT = "tests/csrf/test_exempt_bearer.py"
_TARGETS = "tests/oauth/flow/test_redirect_targets.py::TestNext::"
_GUARD = "authservice/csrf/guard.py"
_FLOW = "authservice/oauth/flow.py"

CACHES = (
    Mutation(
        "The error for a prefetch, which no cache stores",
        CORE + "api/endpoint.py",
        to(
            'HttpResponse(status=503, headers={"Retry-After": "1"})',
            'HttpResponse(status=503, headers={"Retry-After": "1", "Cache-Control": "public"})',
        ),
        (f"{_CACHES}test_response_forbids_caches", "-kverify-email"),
    ),
    Mutation(
        "The cookies on which views of the REST framework depend",
        "authservice/authentication.py",
        to('"Authorization", "Cookie")', '"Authorization")'),
        (f"{_CACHES}TestHostViews::test_site_cache_keeps_users_apart",),
    ),
    Mutation(
        "The refusal by a view of the project, which no cache stores",
        HTTP + "envelope.py",
        to("    keep_from_caches(response)  #", "    #"),
        (f"{_CACHES}TestHostViews::test_refusal_of_a_decorator_is_not_stored",),
    ),
)

EXEMPT_CLIENTS = (
    Mutation(
        "The cookies by which a browser is recognised, without an origin",
        _GUARD,
        without(' or meta.get("HTTP_COOKIE")'),
        (f"{_EXEMPT}::test_public_route_without_a_pair", "-klogin"),
    ),
    Mutation(
        "The made-up bearer token that excuses no request to a public route",
        CORE + "api/endpoint.py",
        without("not self.is_public(action.__name__) and "),
        (f"{_EXEMPT}::test_public_route_without_a_pair", "-klogin"),
    ),
    Mutation(
        "The bearer token of another issuer that excuses no request to a view",
        "authservice/csrf/middleware.py",
        without(" and not has_foreign_token(request)"),
        (f"{_EXEMPT}::TestHostViews",),
    ),
    Mutation(
        "The cookies that a client without a browser does not get",
        _GUARD,
        to("            envelope.leave_out_cookies(request)\n", "            pass\n"),
        (f"{_EXEMPT}::TestApp::test_app_gets_no_cookies",),
    ),
)

RETURNS = (
    Mutation(
        "The comparison of the whole address to return to",
        _FLOW,
        to("url not in _return_urls()", "not url.startswith(_return_urls())"),
        (f"{_TARGETS}test_login_may_not_return_to_another_address",),
    ),
    Mutation(
        "The address to return to after linking, which must be allowed",
        "authservice/oauth/views.py",
        without('        flow.require_return_url(fields["next"])\n'),
        (f"{_TARGETS}test_linking_may_not_return_to_another_address",),
    ),
    Mutation(
        "The settings at the end of a login, which may no longer allow the address",
        _FLOW,
        to("started.onward if started.onward in _return_urls() else", "started.onward or"),
        (f"{_TARGETS}test_address_that_the_settings_no_longer_have_is_not_used",),
    ),
)
