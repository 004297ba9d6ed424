"""Links and codes, what their mails let in, and who else may read or count."""

from __future__ import annotations

from tests.mutations.kinds import CORE, HTTP, Mutation, to, without

_ENDS = "tests/recovery/test_ends.py"

TICKETS = (
    Mutation(
        "The count of an attempt at a code before the check",
        CORE + "credentials/one_time.py",
        to("not (counted and right)", "not right"),
        ("tests/recovery/test_reset_by_code.py",),
    ),
    Mutation(
        "The attempts that a code has",
        "authservice/core/credentials/code_attempts.py",
        to("TRIES = 5\n", "TRIES = 9\n"),
        ("tests/recovery/test_reset_by_code.py",),
    ),
    Mutation(
        "The comparison of a code with its digest",
        CORE + "credentials/one_time.py",
        to(
            'right = crypto.matches(_CODE, f"{purpose.name}|{target_key}|{code.reveal()}", stored)',
            "right = True",
        ),
        ("tests/recovery/test_reset_by_code.py",),
    ),
    Mutation(
        "The one use of a secret",
        CORE + "credentials/one_time.py",
        to(
            "rows = _tickets().filter(pk=ticket.pk, spent_at=None, expires_at__gt=now)",
            "rows = _tickets().filter(pk=ticket.pk, expires_at__gt=now)",
        ),
        ("tests/recovery/test_verify_email.py",),
    ),
    Mutation(
        "The purpose of a link",
        CORE + "credentials/one_time.py",
        to('f"{purpose.name}|{token.reveal()}"', 'f"{token.reveal()}"'),
        ("tests/recovery/test_purposes.py",),
        times=0,
    ),
    Mutation(
        "The address that a secret was sent to",
        CORE + "credentials/one_time.py",
        to(
            "if purpose.addressed and ticket.target_key not in",
            "if False and ticket.target_key not in",
        ),
        (_ENDS,),
    ),
    Mutation(
        "The end of a secret by a changed password",
        CORE + "credentials/one_time.py",
        to(
            "return purpose.lasting or passwords.matches_fingerprint(",
            "return True or passwords.matches_fingerprint(",
        ),
        (_ENDS,),
    ),
    Mutation(
        "The address beside a reset token",
        CORE + "recovery/password_reset.py",
        without(" or (email and ticket.target_key != identifiers.email_key(email))"),
        ("tests/recovery/test_reset_by_link.py",),
    ),
    Mutation(
        "The harmlessness of a look ahead",
        CORE + "api/verification_views.py",
        to("if self.is_prefetch:", "if False:"),
        ("tests/recovery/test_verify_email.py",),
    ),
    Mutation(
        "The settings as the only source of a redirect",
        CORE + "api/verification_views.py",
        to(
            'onward = links.verified("success")',
            'onward = self.request.GET.get("next") or links.verified("success")',
        ),
        ("tests/recovery/test_redirects.py", "tests/abuse/test_redirects.py"),
    ),
    Mutation(
        "The life of a code, before the new password is judged",
        CORE + "credentials/one_time.py",
        without(", expires_at__gt=timezone.now()"),
        ("tests/recovery/test_reset_by_code.py",),
    ),
    Mutation(
        "The row of the user, locked before a password is set",
        CORE + "credentials/passwords.py",
        without(".select_for_update()"),
        ("tests/recovery/test_locks.py",),
    ),
    Mutation(
        "The end of sessions by a reset, whatever hash comes back",
        CORE + "recovery/takeover.py",
        without("    sessions.end_all(eviction.person, eviction.reason)\n"),
        ("tests/recovery/test_reset_for_good.py",),
    ),
    Mutation(
        "The end of reset links by a reset, whatever hash comes back",
        CORE + "recovery/takeover.py",
        (
            *without("    one_time.revoke_all(eviction.person, one_time.RESET)\n"),
            *without("    one_time.revoke_all_but_notices(eviction.person)\n"),
        ),
        ("tests/recovery/test_reset_for_good.py",),
    ),
    Mutation(
        "The session that must be there still to change a password",
        CORE + "sessions/sessions.py",
        without(" or not is_valid(*found)"),
        ("tests/recovery/test_change_password.py",),
    ),
    Mutation(
        "The one-time tokens that are still expired when they are deleted",
        CORE + "cleanup.py",
        to(
            "rows.filter(pk__in=pks), connections",
            "rows.model.objects.filter(pk__in=pks), connections",
        ),
        ("tests/commands/test_cleanup.py",),
    ),
)

PLACES = (
    Mutation(
        "The proxies that are trusted",
        HTTP + "client.py",
        to("return hops[-proxies][:_MAX_ADDRESS] if", "return hops[0][:_MAX_ADDRESS] if"),
        ("tests/core/test_flood_limits.py",),
    ),
    Mutation(
        "The distrust of X-Forwarded-For",
        HTTP + "client.py",
        to(
            "    if not proxies:\n        if proxies == 0:\n            _report_proxy(request)\n"
            "        return peer\n",
            "    proxies = proxies or 1\n",
        ),
        ("tests/core/test_flood_limits.py",),
    ),
    Mutation(
        "The network that an address stands for",
        HTTP + "client.py",
        to("(plain, 64)", "(plain, 128)"),
        ("tests/core/test_flood_limits.py",),
    ),
)

_STRANGERS = "authservice/magiclink/auto_register.py"
_REGISTERING = ("tests/magiclink/test_registering.py::TestSweep",)
_LOGIN_CSRF = "tests/magiclink/test_login_csrf.py"
MAIL = (
    Mutation(
        "The end of access that nobody proved",
        CORE + "recovery/first_proof.py",
        to("    if suspect and core.wipe_unproven:", "    if False:"),
        ("tests/magiclink/test_unproven.py",),
    ),
    Mutation(
        "The account whose own token keeps it",
        CORE + "recovery/verification.py",
        to(
            "return caller is not None and caller.user.pk == person.user.pk",
            "return caller is not None",
        ),
        ("tests/magiclink/test_unproven.py",),
    ),
    Mutation(
        "The one use of a mailed link",
        "authservice/magiclink/login.py",
        to(
            "present = one_time.consume_for(messages.purpose(), person, ticket)", "present = person"
        ),
        ("tests/magiclink/test_signing_in.py",),
    ),
    Mutation(
        "The button between a scanner and the login",
        "authservice/magiclink/views.py",
        to('if conf.confirm == "auto" and unasked', "if False"),
        ("tests/magiclink/test_confirm.py",),
    ),
    Mutation(
        "The place where the button stands",
        "authservice/magiclink/views.py",
        to("if pages.posted_elsewhere(self.request):", "if False:"),
        ("tests/magiclink/test_elsewhere.py",),
    ),
    Mutation(
        "The cookies of a visitor whose page fetches a link",
        "authservice/magiclink/views.py",
        to("if cookies_count() and pages.fetched_elsewhere(self.request):", "if False:"),
        (f"{_LOGIN_CSRF}::TestScripts::test_script_of_another_origin_signs_nobody_in",),
    ),
    Mutation(
        "The origin that a form hides",
        HTTP + "pages.py",
        to(
            'origin != "" and not origins.is_own(origin, request)',
            'origin not in ("", "null") and not origins.is_own(origin, request)',
        ),
        ("tests/magiclink/test_elsewhere.py",),
    ),
    Mutation(
        "The origin that our own form tells",
        HTTP + "pages.py",
        to('"strict-origin"', '"no-referrer"'),
        (f"{_LOGIN_CSRF}::TestChromium::test_button_of_the_page_signs_in",),
    ),
    Mutation(
        "The proof of a number that is wiped",
        CORE + "recovery/takeover.py",
        without('    "verified_phone_key": "",\n'),
        ("tests/magiclink/test_unproven.py",),
    ),
    Mutation(
        "The account that is in use",
        _STRANGERS,
        to("    one_time.revoke_all(person, _UNUSED)\n", "    return\n"),
        _REGISTERING,
    ),
    Mutation(
        "The account that somebody logged in to",
        _STRANGERS,
        without('            ~Exists(Session.objects.using(using).filter(user=OuterRef("pk"))),\n'),
        _REGISTERING,
    ),
    Mutation(
        "The account whose address was verified",
        _STRANGERS,
        without('            authservice_account__verified_email_key="",\n'),
        _REGISTERING,
    ),
)
