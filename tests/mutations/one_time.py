"""Links and codes, the logins by e-mail, and limits of reading and counting them."""

from __future__ import annotations

from tests.mutations.kinds import CORE, HTTP, Mutation, to, without

_ENDS = "tests/core/credentials/test_token_revocation.py"

ONE_TIME_TOKENS = (
    Mutation(
        "The count of an attempt at a code, before the code is checked",
        CORE + "credentials/one_time.py",
        to("not (counted and right)", "not right"),
        ("tests/core/recovery/test_reset_by_code.py",),
    ),
    Mutation(
        "The number of attempts at a code",
        "authservice/core/credentials/lockout.py",
        to("CODE_TRIES = 5\n", "CODE_TRIES = 9\n"),
        ("tests/core/recovery/test_reset_by_code.py",),
    ),
    Mutation(
        "The comparison of a code with its digest",
        CORE + "credentials/one_time.py",
        to(
            "right = _matches(purpose, target_key, code, stored)",
            "right = True",
        ),
        ("tests/core/recovery/test_reset_by_code.py",),
    ),
    Mutation(
        "The single use of a one-time secret",
        CORE + "credentials/one_time.py",
        to(
            "filter(pk=issued.pk, spent_at=None, expires_at__gt=clock.by_now())",
            "filter(pk=issued.pk, expires_at__gt=clock.by_now())",
        ),
        ("tests/core/recovery/test_verify_email.py",),
    ),
    Mutation(
        "The purpose of a link",
        CORE + "credentials/one_time.py",
        to('f"{name}|{token.reveal()}"', "token.reveal()"),
        ("tests/core/credentials/test_purposes.py",),
    ),
    Mutation(
        "The address that a secret was sent to",
        CORE + "credentials/one_time.py",
        to(
            "if purpose.addressed and issued.target_key not in",
            "if False and issued.target_key not in",
        ),
        ("tests/core/credentials/test_one_time_codes.py",),
    ),
    Mutation(
        "The revocation of a secret by a changed password",
        CORE + "credentials/one_time.py",
        to(
            "return purpose.lasting or passwords.matches_fingerprint(",
            "return True or passwords.matches_fingerprint(",
        ),
        (_ENDS,),
    ),
    Mutation(
        "The address that is sent with a reset token",
        CORE + "recovery/password_reset.py",
        without(" or (email and issued.target_key != identifiers.email_key(email))"),
        ("tests/core/recovery/test_reset_by_link.py",),
    ),
    Mutation(
        "The prefetch that does not use up a link",
        CORE + "api/endpoint.py",
        to(
            'if self.is_visited and request.method == "GET" and incoming.is_prefetch(request):',
            "if False:",
        ),
        ("tests/core/recovery/test_verify_email.py",),
    ),
    Mutation(
        "The settings as the only source of a redirect",
        CORE + "api/signup_views.py",
        to(
            "return responses.redirect_verified(_VERIFIED, status=status)",
            'return responses.redirect_to(self.request.GET.get("next") or'
            ' links.verified("success"))',
        ),
        ("tests/core/api/test_redirects.py", "tests/abuse/test_redirects.py"),
    ),
    Mutation(
        "The check of a code before the new password",
        CORE + "credentials/one_time.py",
        without(", expires_at__gt=clock.by_now()"),
        ("tests/core/recovery/test_reset_by_code.py",),
    ),
    Mutation(
        "The row of the user, locked before a password is set",
        CORE + "credentials/passwords.py",
        without(".select_for_update()"),
        ("tests/core/recovery/test_locks.py",),
    ),
    Mutation(
        "The end of sessions by a reset, even if the old hash is restored",
        CORE + "recovery/takeover.py",
        without("    sessions.end_all(eviction.person, eviction.reason)\n"),
        ("tests/core/recovery/test_reset_for_good.py",),
    ),
    Mutation(
        "The revocation of reset links by a reset, even if the old hash is restored",
        CORE + "recovery/takeover.py",
        (
            *without("    one_time.revoke_all(eviction.person, one_time.RESET)\n"),
            *without("    one_time.revoke_all_but_notices(eviction.person)\n"),
        ),
        ("tests/core/recovery/test_reset_for_good.py",),
    ),
    Mutation(
        "The check under the lock that the session is valid, before a password changes",
        CORE + "sessions/sessions.py",
        without(" or not is_valid(*person_and_session)"),
        ("tests/core/recovery/test_password_change.py",),
    ),
    Mutation(
        "The check under the lock that one-time tokens are still expired, before they are deleted",
        CORE + "cleanup.py",
        to(
            "rows.filter(pk__in=pks), connections",
            "rows.model.objects.filter(pk__in=pks), connections",
        ),
        ("tests/commands/test_cleanup.py",),
    ),
)

_ADDRESSES = "authservice/kernel/http/incoming.py"
PLACES = (
    Mutation(
        "The number of trusted proxies",
        _ADDRESSES,
        to("_place(hops[-proxies] if", "_place(hops[0] if"),
        ("tests/kernel/test_throttling.py",),
    ),
    Mutation(
        "The networks of trusted proxies",
        _ADDRESSES,
        to("if not _is_proxy(address) or not", "if not"),
        ("tests/kernel/test_addresses.py",),
    ),
    Mutation(
        "The refusal of X-Forwarded-For without trusted proxies",
        _ADDRESSES,
        to(
            "    if not proxies:\n        if proxies is not None",
            "    proxies = proxies or 1\n    if False:\n        if proxies is not None",
        ),
        ("tests/kernel/test_throttling.py",),
    ),
    Mutation(
        "The network of an address",
        _ADDRESSES,
        to("(plain, 64)", "(plain, 128)"),
        ("tests/kernel/test_throttling.py",),
    ),
)

_AUTO_REGISTER = "authservice/magiclink/link_login.py"
_REGISTERING = ("tests/magiclink/test_auto_register.py::TestCleanup",)
_LOGIN_CSRF = "tests/magiclink/test_login_csrf.py"
MAIL = (
    Mutation(
        "The removal of access from before the first proof",
        CORE + "recovery/first_proof.py",
        to("    if suspect and core.wipe_unproven:", "    if False:"),
        ("tests/magiclink/test_takeover.py",),
    ),
    Mutation(
        "The access token that proves an own account",
        CORE + "recovery/verification.py",
        to(
            "return caller is not None and caller.user.pk == person.user.pk",
            "return caller is not None",
        ),
        ("tests/magiclink/test_takeover.py",),
    ),
    Mutation(
        "The single use of a mailed link",
        "authservice/magiclink/link_login.py",
        to("if not one_time.consume_locked(purpose(), present, issued):", "if False:"),
        ("tests/magiclink/test_login.py",),
    ),
    Mutation(
        "The confirmation page between a mail scanner and the login",
        "authservice/magiclink/views.py",
        to('if conf.confirm == "auto" and in_browser', "if False"),
        ("tests/magiclink/test_confirm.py",),
    ),
    Mutation(
        "The check that a form comes from the confirmation page itself",
        "authservice/magiclink/views.py",
        to("if pages.posted_elsewhere(self.request):", "if False:"),
        ("tests/magiclink/test_cross_site.py",),
    ),
    Mutation(
        "The cookies of a visitor whose page fetches a link",
        "authservice/magiclink/views.py",
        to("if accepts_cookies() and pages.fetched_elsewhere(self.request):", "if False:"),
        (f"{_LOGIN_CSRF}::TestScripts::test_script_of_another_origin_logs_nobody_in",),
    ),
    Mutation(
        "The refusal of a form with a hidden origin",
        HTTP + "pages.py",
        to(
            'origin != "" and not incoming.is_own(origin, request)',
            'origin not in ("", "null") and not incoming.is_own(origin, request)',
        ),
        ("tests/magiclink/test_cross_site.py",),
    ),
    Mutation(
        "The referrer policy with which the own form sends its origin",
        HTTP + "pages.py",
        to('"strict-origin"', '"no-referrer"'),
        (f"{_LOGIN_CSRF}::TestChromium::test_button_of_the_page_logs_in",),
    ),
    Mutation(
        "The removal of a number's verification with the number",
        CORE + "recovery/phone_numbers.py",
        without('    "verified_phone_key": None,\n'),
        ("tests/magiclink/test_takeover.py",),
    ),
    Mutation(
        "The kept account that was used",
        _AUTO_REGISTER,
        to("    one_time.revoke_all(person, _UNUSED)\n", "    return\n"),
        _REGISTERING,
    ),
    Mutation(
        "The kept account with a session",
        _AUTO_REGISTER,
        without('            ~Exists(Session.objects.filter(user=OuterRef("pk"))),\n'),
        _REGISTERING,
    ),
    Mutation(
        "The kept account with a verified address",
        _AUTO_REGISTER,
        without('            authservice_account__verified_email_key="",\n'),
        _REGISTERING,
    ),
    Mutation(
        "The text of an error that the log of a lost message does not quote",
        "authservice/kernel/message_queue.py",
        to('f"{type(error).__name__}{place(error)}"', "repr(error)"),
        ("tests/notification/test_messenger.py",),
    ),
    Mutation(
        "The text of an error that the log of a failed message does not quote",
        "authservice/notification/worker.py",
        to('fault = f"{type(error).__name__}{answer}', 'fault = f"{error!r}{answer}'),
        ("tests/notification/test_jobs.py",),
    ),
)
