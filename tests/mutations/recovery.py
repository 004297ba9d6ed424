"""What a recovery removes from an attacker, and what an attacker with a session cannot add."""

from __future__ import annotations

from tests.mutations.kinds import CORE, Mutation, to, without

_TAKEOVER = "tests/core/recovery/test_takeover.py::test_reset_by_mail"
_SHARED = "tests/core/recovery/test_shared_numbers.py"
_NUMBER = "tests/core/credentials/test_recovery_number.py"
_SECURE = "tests/core/recovery/test_secure_account.py"
_CONFIRM = "tests/core/recovery/test_verify_confirm.py"

EVICTION = (
    Mutation(
        "The removal of a number that an attacker added",
        CORE + "recovery/takeover.py",
        to("_recent_access, _recent_number, _sessions)", "_recent_access, _sessions)"),
        (f"{_TAKEOVER}_removes_the_number_that_a_thief_added_to_a_proven_account",),
    ),
    Mutation(
        "The number that a recovery keeps, which resets no password",
        CORE + "recovery/takeover.py",
        to("update(phone_set_by=PhoneSource.STAFF)", "count()"),
        (f"{_TAKEOVER}_keeps_a_required_number_which_then_resets_no_password",),
    ),
    Mutation(
        "The removal of access that an attacker added",
        CORE + "recovery/takeover.py",
        to("_recent_access, _recent_number, _sessions)", "_recent_number, _sessions)"),
        (f"{_TAKEOVER}_asks_modules_to_revoke_recent_access",),
    ),
    Mutation(
        "The removal of a factor from before the first proof",
        CORE + "recovery/takeover.py",
        to("(_open_tokens, _unproven_access, _number,", "(_open_tokens, _number,"),
        (f"{_TAKEOVER}_removes_the_factor_enabled_before_the_address_was_proven",),
    ),
    Mutation(
        "The removal of a number from before the first proof",
        CORE + "recovery/takeover.py",
        to("(_open_tokens, _unproven_access, _number,", "(_open_tokens, _unproven_access,"),
        (f"{_TAKEOVER}_removes_the_number_set_before_the_address_was_proven",),
    ),
    Mutation(
        "The first proof by a mailed reset link",
        CORE + "recovery/password_reset.py",
        to("        if not present.email_proven:\n", "        if False:\n"),
        (f"{_TAKEOVER}_removes_the_factor_enabled_before_the_address_was_proven",),
    ),
    Mutation(
        "The number from before the first proof, which counts as added at that proof",
        CORE + "credentials/recovery_number.py",
        to("(account.phone_added_at, account.email_proven_at)", "(account.phone_added_at,)"),
        (f"{_TAKEOVER}_counts_an_earlier_number_as_added_at_the_first_proof",),
    ),
)

NUMBERS = (
    Mutation(
        "The password or the wait that a number needs to reset one",
        CORE + "credentials/recovery_number.py",
        to("if account.phone_set_by in _AT_ONCE:", "if True:"),
        (f"{_NUMBER}::test_number_set_by_a_session_resets_no_password",),
    ),
    Mutation(
        "The 72 hours before such a number can reset a password",
        CORE + "credentials/recovery_number.py",
        to("verified_at <= clock.now() - WAIT", "verified_at <= clock.now()"),
        (f"{_NUMBER}::test_number_set_by_a_session_resets_no_password",),
    ),
    Mutation(
        "The number set by staff that its owner has not confirmed",
        CORE + "credentials/recovery_number.py",
        without("account.phone_set_by == PhoneSource.SESSION and "),
        (f"{_NUMBER}::test_number_set_by_staff_resets_no_password",),
    ),
    Mutation(
        "The source of a number that a session set",
        CORE + "recovery/profile.py",
        to("PhoneSource.PASSWORD if proven else PhoneSource.SESSION", "PhoneSource.PASSWORD"),
        (f"{_NUMBER}::test_number_set_by_a_session_resets_no_password",),
    ),
    Mutation(
        "The verified number that no other user can take",
        CORE + "recovery/phone_numbers.py",
        to("if number and is_taken(", "if not number and is_taken("),
        ("tests/core/recovery/test_shared_numbers.py",),
    ),
    Mutation(
        "The account that a code verifies a number for",
        CORE + "credentials/one_time.py",
        to("if purpose.opens_account or row.user_id == holder", "if True"),
        ("tests/core/recovery/test_shared_numbers.py",),
    ),
    Mutation(
        "The number that other accounts lose",
        CORE + "recovery/verification.py",
        without("        phone_numbers.take(present, key, client)\n"),
        ("tests/core/recovery/test_shared_numbers.py",),
    ),
    Mutation(
        "The recent proof that a setting requires",
        CORE + "recovery/recent_proof.py",
        to("elif core.require_recent_proof and not is_recent(session):", "elif False:"),
        (f"{_NUMBER}::test_recent_proof_is_a_session_of_ten_minutes",),
    ),
    Mutation(
        "The refresh, which is not a recent proof",
        CORE + "recovery/recent_proof.py",
        to(
            'Record(session.levels).proves("aal1", now=clock.utc(), within=RECENT)',
            "clock.now() - session.refreshed_at <= RECENT",
        ),
        (f"{_NUMBER}::test_recent_proof_is_not_a_refreshed_session",),
    ),
    Mutation(
        "The client that takes a number, which the log of the loser does not name",
        CORE + "recovery/phone_numbers.py",
        to("loser, Client(), phone_number", "loser, client, phone_number"),
        (f"{_SHARED}::test_account_that_loses_the_number_learns_nothing_about_its_new_owner",),
    ),
    Mutation(
        "The language of the client that takes a number, which the mail does not use",
        CORE + "recovery/phone_numbers.py",
        to("Client(request_id=client.request_id)", "client"),
        (f"{_SHARED}::test_account_that_loses_the_number_learns_nothing_about_its_new_owner",),
    ),
)

NOTICES = (
    Mutation(
        "The single use of a link that secures an account",
        CORE + "recovery/secure_account.py",
        to("if not one_time.consume(issued):", "if not (one_time.consume(issued) or present):"),
        (f"{_SECURE}::test_link_used_twice_acts_once",),
    ),
    Mutation(
        "The revocation of the links of later changes",
        CORE + "recovery/secure_account.py",
        without("        security_notice.end_later(issued)\n"),
        (f"{_SECURE}::test_link_makes_the_links_of_later_changes_do_nothing",),
    ),
    Mutation(
        "The access of a request that began before the undone change",
        CORE + "recovery/secure_account.py",
        to(" - _OVERLAP", ""),
        (
            "tests/oauth/flow/test_recovery.py::"
            "test_not_me_removes_a_link_whose_request_began_before_the_change",
        ),
    ),
    Mutation(
        "The order of the links of changes whose requests overlap",
        CORE + "messages/security_notice.py",
        to("max(now, last_created_at + timedelta.resolution) if last_created_at else now", "now"),
        (
            "tests/oauth/flow/test_recovery.py::"
            "test_not_me_removes_a_link_whose_request_began_before_the_change",
        ),
    ),
    Mutation(
        "The link that a changed password does not revoke",
        CORE + "credentials/one_time.py",
        to("addressed=False, lasting=True)", "addressed=False)"),
        (f"{_SECURE}::test_link_undoes_a_password_that_the_thief_changed",),
    ),
    Mutation(
        "The link that a changed address does not revoke",
        CORE + "credentials/one_time.py",
        without("addressed=False, "),
        (f"{_SECURE}::test_link_restores_an_address_that_was_changed_later",),
    ),
    Mutation(
        "The removal of a factor that an attacker enabled",
        CORE + "recovery/takeover.py",
        without("_recent_factors, "),
        (f"{_SECURE}::test_link_removes_the_factor_that_the_thief_enabled",),
    ),
    Mutation(
        "The factor from before the change, which the link keeps",
        "authservice/twofactor/verify_login.py",
        without(".filter(Q(confirmed=False) | Q(enabled_at__gte=since))"),
        (f"{_SECURE}::test_link_keeps_a_factor_from_before_the_change",),
    ),
    Mutation(
        "The removal of a password that an attacker chose",
        CORE + "recovery/secure_account.py",
        without("        passwords.store(present, creation.unusable())\n"),
        (f"{_SECURE}::test_link_undoes_a_password_that_the_thief_changed",),
    ),
    Mutation(
        "The wait of a number that the link restores",
        CORE + "recovery/secure_account.py",
        to('fields["phone_set_by"] = PhoneSource.SESSION', "pass"),
        (f"{_SECURE}::test_link_of_a_later_change_ends_resets_by_the_number_of_the_thief",),
    ),
    Mutation(
        "The proof of the address that such a link is mailed to",
        CORE + "messages/security_notice.py",
        to('if email and before["proven_email_key"] == identifiers.email_key(email):', "if email:"),
        (f"{_SECURE}::test_owner_without_a_proven_address_is_notified_by_sms_without_a_link",),
    ),
)

_LOST = "tests/core/messages/test_lost_notices.py"
LOST_NOTICES = (
    Mutation(
        "The search of the worker for lost notices",
        "authservice/notification/worker.py",
        without("    security_notice.check()\n"),
        (
            "tests/notification/test_lost_notices.py::test_owner_gets_the_link_of_a_notice_that_a_full_queue_lost",
        ),
    ),
    Mutation(
        "The unproven address, which gets no notice",
        CORE + "messages/security_notice.py",
        to(
            "if kind == kinds.PHONE_CHANGED and number and verified and message_queue.can_sms():",
            "if True:",
        ),
        ("tests/core/recovery/test_password_change.py",),
    ),
    Mutation(
        "The link that another job of the notice issued",
        CORE + "messages/security_notice.py",
        to('row.payload.get("sent_by", 0) != again:', "False:"),
        (_LOST,),
    ),
    Mutation(
        "The pause between two attempts at a lost notice",
        CORE + "messages/security_notice.py",
        to("if PAUSE * 2**number >= elapsed + PAUSE", "if True"),
        (f"{_LOST}::test_missed_attempts_are_not_made_up_for",),
    ),
    Mutation(
        "The limit of one lost notice of an account at a time",
        CORE + "messages/security_notice.py",
        without(".exclude(Exists(older))"),
        (f"{_LOST}::test_account_with_many_lost_notices_does_not_delay_those_of_others",),
    ),
    Mutation(
        "The single process that sends a lost notice again",
        CORE + "messages/security_notice.py",
        to(
            "filter(pk=row.pk, resend_at__lte=now, digest=None, spent_at=None)",
            "filter(pk=row.pk)",
        ),
        ("tests/core/recovery/races/test_lost_notices.py",),
        database="postgres",
    ),
)

PAGES = (
    Mutation(
        "The confirmation page for a browser that did not sign up",
        CORE + "api/signup_views.py",
        to('if core.verify_confirm == "auto" and shows_page and not signed_up_here:', "if False:"),
        (f"{_CONFIRM}::TestPage",),
    ),
    Mutation(
        "The mail scanner, which verifies but proves nothing",
        CORE + "recovery/verification.py",
        to("if proof and not present.email_proven:", "if not present.email_proven:"),
        (f"{_CONFIRM}::TestProof",),
    ),
    Mutation(
        "The address that the cookie of a sign-up belongs to",
        CORE + "api/signup_views.py",
        to("return digest.isascii() and secret.matches(", "return bool(digest) or secret.matches("),
        (f"{_CONFIRM}::TestProof",),
    ),
    Mutation(
        "The refusal of the verification form of another site",
        CORE + "api/signup_views.py",
        to("if pages.posted_elsewhere(self.request):", "if False:"),
        (f"{_CONFIRM}::TestConfirm",),
    ),
    Mutation(
        "The proven account that cannot be denied",
        CORE + "recovery/first_proof.py",
        to("if present.email_proven:", "if False:"),
        (f"{_CONFIRM}::TestDeny",),
    ),
    Mutation(
        "The refusal of a link after the sign-up was denied",
        CORE + "recovery/verification.py",
        to("if not is_first_use and not present.email_verified:", "if False:"),
        (f"{_CONFIRM}::TestDeny",),
    ),
    Mutation(
        "The image request that logs no user in",
        "authservice/kernel/http/incoming.py",
        to('request.META.get("HTTP_SEC_FETCH_MODE") == "no-cors"', "False"),
        ("tests/magiclink/test_cross_site.py",),
    ),
)

FACTORS = (
    Mutation(
        "The sessions from before a second factor, refused by its version",
        CORE + "sessions/sessions.py",
        without("        and session.factor_version == person.factor_version\n"),
        ("tests/core/sessions/test_revocation.py", "-kfactor_enabled"),
    ),
    Mutation(
        "The factor version that a concurrent login has read",
        CORE + "sessions/sessions.py",
        to('accounts.update(factor_version=F("factor_version") + 1)', "pass"),
        ("tests/races/test_factor_enabling.py",),
        database="postgres",
    ),
    Mutation(
        "The recent proof that setting up a factor needs",
        "authservice/twofactor/enrolment.py",
        to(
            'recent_proof.require_recent(person, session, password, client, method="2fa_setup")',
            "pass",
        ),
        ("tests/twofactor/test_setup.py",),
    ),
    Mutation(
        "The revocation of devices by a password that staff set in Django admin",
        CORE + "staff/django_user_pages.py",
        without("        lockout.revoke_devices(person)\n"),
        ("--ds=tests.admin.settings", "tests/admin/inside/test_notices.py", "-kends_every_session"),
    ),
)
