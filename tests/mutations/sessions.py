"""Sessions, and requests that another site forges."""

from __future__ import annotations

from tests.mutations.kinds import CORE, HTTP, Mutation, to, without

CSRF = "authservice/csrf/"

FORGERY = (
    Mutation(
        "The comparison of CSRF header and cookie",
        CSRF + "guard.py",
        to("if not constant_time_compare(in_header, in_cookie):", "if False:"),
        ("tests/csrf/test_guard.py",),
    ),
    Mutation(
        "The signature of a CSRF token",
        CSRF + "guard.py",
        to("if fault := fault_of(in_header, session_id):", 'if fault := "":'),
        ("tests/csrf/test_guard.py",),
    ),
    Mutation(
        "The session that a CSRF token belongs to",
        CSRF + "guard.py",
        to("if session_id is not None and owner != _hex(session_id):", "if False:"),
        ("tests/csrf/test_binding.py",),
    ),
    Mutation(
        "The lifetime of a CSRF token",
        CSRF + "guard.py",
        without(", max_age=conf.ttl"),
        ("tests/csrf/test_guard.py",),
    ),
    Mutation(
        "The check of the origin of a request",
        CSRF + "guard.py",
        to(
            'if not may_call(origin, site, target_origin(request) if origin else ""):',
            "if False:",
        ),
        ("tests/csrf/test_origins.py",),
    ),
    Mutation(
        "The prefix that binds a cookie to this host",
        HTTP + "envelope.py",
        to('return f"__Host-{plain}" if sections.secure() else plain', "return plain"),
        ("tests/core/credentials/test_device_cookie.py",),
    ),
    Mutation(
        "The request guard that token cookies require",
        CORE + "api/callers.py",
        to("token_cookies.enabled and bool(plugs(RequestGuard))", "token_cookies.enabled"),
        ("tests/core/credentials/test_device_cookie.py",),
    ),
    Mutation(
        "The slash at which an exempt path ends",
        CSRF + "middleware.py",
        to("""path.startswith(f"{prefix.rstrip('/')}/")""", "path.startswith(prefix)"),
        ("tests/csrf/test_host_views.py",),
    ),
)

_POLICY = ("tests/kernel/test_login_policy.py",)
SESSIONS = (
    Mutation(
        "The filter of the list of sessions by owner",
        CORE + "sessions/sessions.py",
        (
            ("        user=person.user.pk,\n        ended_at=None,\n", "        ended_at=None,\n"),
            # The fingerprint is specific to a user as well, which would hide the loss.
            ("        password_fingerprint__in=passwords.fingerprints(person.password),\n", ""),
        ),
        (
            "tests/session/test_sessions.py::TestList::test_list_of_sessions_omits_sessions_of_other_users",
        ),
    ),
    Mutation(
        "The password that a session began with",
        CORE + "sessions/sessions.py",
        without("        password_fingerprint__in=passwords.fingerprints(person.password),\n"),
        ("tests/session/test_sessions.py",),
    ),
    Mutation(
        "The session of the caller, checked before another is revoked",
        "authservice/session/session_policy.py",
        to("with sessions.changing(person, own):", "with sessions.changing(person, session):"),
        ("tests/session/test_sessions.py",),
    ),
    Mutation(
        "The idle timeout of a session",
        "authservice/session/session_policy.py",
        to("if now >= min(session.idle_expires_at, session.expires_at) or", "if"),
        ("tests/session/test_lifetimes.py",),
    ),
    Mutation(
        "The end of a session while its last use is written",
        CORE + "sessions/sessions.py",
        to("        ended_at=None,\n        last_used_at=param", "        last_used_at=param"),
        ("tests/session/test_lifetimes.py",),
    ),
    Mutation(
        "The refusal of a session by its store, for a request",
        "authservice/session/session_policy.py",
        without(" or not self.alive(session)"),
        ("tests/session/test_stores.py",),
    ),
    Mutation(
        "The refusal of a session by its store, for a refresh",
        CORE + "sessions/rotation.py",
        without(" and policy().alive(session)"),
        ("tests/session/test_stores.py",),
    ),
    Mutation(
        "The refusal of sessions while their store is unavailable",
        "authservice/session/stores.py",
        to("        raise errors.ServiceUnavailable from error\n", "        return\n"),
        ("tests/session/test_unavailable_store.py",),
    ),
    Mutation(
        "The notification of the store after one session ended",
        CORE + "sessions/sessions.py",
        without("    _notify_policy([session_id] if ended else [])\n"),
        _POLICY,
    ),
    Mutation(
        "The notification of the store after several sessions ended",
        CORE + "sessions/sessions.py",
        without("        _notify_policy(ids)\n"),
        _POLICY,
    ),
    Mutation(
        "The commit before the store is notified",
        CORE + "sessions/sessions.py",
        to("after_commit(notify)", "notify()"),
        _POLICY,
    ),
    Mutation(
        "The end of the oldest session at the limit",
        "authservice/session/session_policy.py",
        to("[most - 1 :]", "[most:]"),
        ("tests/session/test_limit.py",),
    ),
    Mutation(
        "The deletion of the cookies of a session that revoked itself",
        "authservice/session/views.py",
        to("self.on_response = token_cookies.forget", "pass"),
        ("tests/session/test_cookies.py",),
    ),
    Mutation(
        "The sessions of a key that is now a fallback",
        CORE + "sessions/sessions.py",
        to(
            "password_fingerprint__in=passwords.fingerprints(person.password)",
            "password_fingerprint=passwords.fingerprint(person.password)",
        ),
        ("tests/session/test_sessions.py::TestNewSecretKey",),
    ),
    Mutation(
        "The sessions of such a key, after a hash upgrade",
        CORE + "credentials/passwords.py",
        to("= fingerprints(before), fingerprint", "= [fingerprint(before)], fingerprint"),
        ("tests/kernel/test_secret_key_rotation.py",),
    ),
    Mutation(
        "The error if a cache stores only some entries",
        "authservice/session/stores.py",
        to("    if failed:\n", "    if False:\n"),
        ("tests/session/test_stores.py",),
    ),
    Mutation(
        "The refusal of a refresh after a concurrent expiry",
        CORE + "sessions/rotation.py",
        without('        expires_at__gt=param("by_now", Session, "expires_at"),\n'),
        ("tests/core/sessions/test_rotation_interleaved.py",),
    ),
    Mutation(
        "The age of a used token, with rotation turned off",
        CORE + "sessions/rotation.py",
        to("now if session.counter != counter else session.refreshed_at", "now"),
        ("tests/core/sessions/test_rotation.py::TestWithoutRotation",),
    ),
)
