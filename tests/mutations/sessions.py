"""Sessions, and requests that another site forges."""

from __future__ import annotations

from tests.mutations.kinds import CORE, HTTP, Mutation, to, without

CSRF = "authservice/csrf/"

FORGERY = (
    Mutation(
        "The comparison of the CSRF pair",
        CSRF + "guard.py",
        without(" or not constant_time_compare(given, cookies.get(request, conf.cookie_name))"),
        ("tests/csrf/test_guard.py",),
    ),
    Mutation(
        "The proof that a CSRF token is ours",
        CSRF + "guard.py",
        to("if not tokens.is_valid(given, session_id):", "if False:"),
        ("tests/csrf/test_guard.py",),
    ),
    Mutation(
        "The session that a CSRF token is for",
        CSRF + "tokens.py",
        to("(session_id is None or owner == _hex(session_id))", "True"),
        ("tests/csrf/test_binding.py",),
    ),
    Mutation(
        "The origin that may call",
        CSRF + "guard.py",
        to(
            'if not origins.may_call(origin, site, arrival(request) if origin else ""):',
            "if False:",
        ),
        ("tests/csrf/test_origins.py",),
    ),
    Mutation(
        "The cookie's bond to this very host",
        HTTP + "cookies.py",
        to('return f"__Host-{plain}" if sections.secure() else plain', "return plain"),
        ("tests/core/test_cookies.py",),
    ),
    Mutation(
        "Cookies that count only beside a guard",
        HTTP + "authentication.py",
        to('token_cookies.enabled and bool(plugs("request_guard"))', "token_cookies.enabled"),
        ("tests/core/test_cookies.py",),
    ),
    Mutation(
        "The end of an exempt path at a slash",
        CSRF + "middleware.py",
        to("path.startswith(_below(root))", "path.startswith(root)"),
        ("tests/csrf/test_host_views.py",),
    ),
)

_TOLD = ("tests/kernel/test_login_policy.py",)
SESSIONS = (
    Mutation(
        "The owner of a session",
        CORE + "sessions/sessions.py",
        (
            ("        user=person.user.pk,\n        ended_at=None,\n", "        ended_at=None,\n"),
            # The mark is a person's own as well, and would hide the loss.
            ("        password_fingerprint__in=passwords.fingerprints(person.password),\n", ""),
        ),
        ("tests/session/test_sessions.py::TestList::test_nobody_elses_are_in_it",),
    ),
    Mutation(
        "The password that a session was made under",
        CORE + "sessions/sessions.py",
        without("        password_fingerprint__in=passwords.fingerprints(person.password),\n"),
        ("tests/session/test_sessions.py",),
    ),
    Mutation(
        "The caller's own session, judged before another is revoked",
        "authservice/session/sessions.py",
        to("with sessions.changing(person, own):", "with sessions.changing(person, session):"),
        ("tests/session/test_sessions.py",),
    ),
    Mutation(
        "The end of a session that idles",
        "authservice/session/policy.py",
        to("if now >= min(session.idle_expires_at, session.expires_at) or", "if"),
        ("tests/session/test_lifetimes.py",),
    ),
    Mutation(
        "The end of a session that its last use crosses",
        "authservice/session/stores.py",
        without("        ended_at=None,\n"),
        ("tests/session/test_lifetimes.py",),
    ),
    Mutation(
        "The word of a store that a session ended",
        "authservice/session/policy.py",
        without(" or not self.alive(session)"),
        ("tests/session/test_stores.py",),
    ),
    Mutation(
        "The word of a store when a session is refreshed",
        CORE + "sessions/rotation.py",
        to("if not policy().alive(session):", "if False:"),
        ("tests/session/test_stores.py",),
    ),
    Mutation(
        "The refusal of sessions while their store is away",
        "authservice/session/stores.py",
        to("        raise errors.ServiceUnavailable from error\n", "        return\n"),
        ("tests/session/test_store_away.py",),
    ),
    Mutation(
        "The word to the store that one session ended",
        CORE + "sessions/sessions.py",
        without("    _notify_policy([session_id] if ended else [])\n"),
        _TOLD,
    ),
    Mutation(
        "The word to the store that many sessions ended",
        CORE + "sessions/sessions.py",
        without("        _notify_policy(ids)\n"),
        _TOLD,
    ),
    Mutation(
        "The silence about ends of sessions that are undone",
        CORE + "sessions/sessions.py",
        to("transaction.on_commit(notify, using=databases.primary(), robust=True)", "notify()"),
        _TOLD,
    ),
    Mutation(
        "The room that the oldest session makes",
        "authservice/session/limit.py",
        to("[most - 1 :]", "[most:]"),
        ("tests/session/test_limit.py",),
    ),
    Mutation(
        "The forgetting of the cookies of a session that ended itself",
        "authservice/session/views.py",
        to("self.on_response = token_cookies.forget", "pass"),
        ("tests/session/test_cookies.py",),
    ),
    Mutation(
        "The sessions of a key that is a fallback now",
        CORE + "sessions/sessions.py",
        to(
            "password_fingerprint__in=passwords.fingerprints(person.password)",
            "password_fingerprint=passwords.fingerprint(person.password)",
        ),
        ("tests/session/test_sessions.py::TestNewSecretKey",),
    ),
    Mutation(
        "The sessions of such a key, where a better hash is stored",
        CORE + "credentials/passwords.py",
        to("stale = fingerprints(before)", "stale = [fingerprint(before)]"),
        ("tests/core/test_secret_rotation.py",),
    ),
    Mutation(
        "The names that a cache did not take",
        "authservice/session/revocation_cache.py",
        to("    if failed:\n", "    if False:\n"),
        ("tests/session/test_stores.py",),
    ),
    Mutation(
        "The end of a session that a refresh crosses",
        CORE + "sessions/rotation.py",
        without('        expires_at__gt=param("now", Session, "expires_at"),\n'),
        ("tests/core/test_refresh_interleaved.py",),
    ),
    Mutation(
        "The age of a spent token, where rotation is turned off",
        CORE + "sessions/rotation.py",
        to("now if session.counter != counter else session.refreshed_at", "now"),
        ("tests/core/test_refresh.py::TestWithoutRotation",),
    ),
)
