"""What a recovery takes from an intruder, and what an intruder with a session cannot add."""

from __future__ import annotations

from tests.mutations.kinds import CORE, Mutation, to, without

_TAKEOVER = "tests/recovery/test_takeover.py::test_reset_by_mail"
_NUMBER = "tests/recovery/test_recovery_number.py"
_SECURE = "tests/recovery/test_secure_account.py"
_CONFIRM = "tests/recovery/test_verify_confirm.py"

EVICTION = (
    Mutation(
        "The end of the number that a thief added",
        CORE + "recovery/takeover.py",
        to("_recent_access, _recent_number, _sessions)", "_recent_access, _sessions)"),
        (f"{_TAKEOVER}_removes_the_number_a_thief_added_to_a_proven_account",),
    ),
    Mutation(
        "The end of the access that a thief added",
        CORE + "recovery/takeover.py",
        to("_recent_access, _recent_number, _sessions)", "_recent_number, _sessions)"),
        (f"{_TAKEOVER}_asks_modules_for_what_was_added_recently",),
    ),
    Mutation(
        "The end of the factor from before the first proof",
        CORE + "recovery/takeover.py",
        to("(_open_tokens, _unproven_access, _number,", "(_open_tokens, _number,"),
        (f"{_TAKEOVER}_removes_the_factor_planted_before_the_address_was_proven",),
    ),
    Mutation(
        "The end of the number from before the first proof",
        CORE + "recovery/takeover.py",
        to("(_open_tokens, _unproven_access, _number,", "(_open_tokens, _unproven_access,"),
        (f"{_TAKEOVER}_removes_the_number_planted_before_the_address_was_proven",),
    ),
    Mutation(
        "The first proof that a reset by mail is",
        CORE + "recovery/password_reset.py",
        to("    if not person.email_proven:\n", "    if False:\n"),
        (f"{_TAKEOVER}_removes_the_factor_planted_before_the_address_was_proven",),
    ),
    Mutation(
        "The number from before the first proof, recent at that proof",
        CORE + "credentials/recovery_number.py",
        to("(account.phone_added_at, account.email_proven_at)", "(account.phone_added_at,)"),
        (f"{_TAKEOVER}_counts_a_number_from_before_the_proof_as_added_at_the_proof",),
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
        "The 72 hours that such a number waits",
        CORE + "credentials/recovery_number.py",
        to("verified_at <= timezone.now() - WAIT", "verified_at <= timezone.now()"),
        (f"{_NUMBER}::test_number_set_by_a_session_resets_no_password",),
    ),
    Mutation(
        "The number of staff that its owner did not confirm",
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
        "The verified number that nobody else takes",
        CORE + "recovery/profile.py",
        without(".exclude(verified_phone_key=key)"),
        (_NUMBER, "tests/recovery/test_profile.py"),
    ),
    Mutation(
        "The recent proof that a setting demands",
        CORE + "recovery/recent_proof.py",
        to("elif core.require_recent_proof and not is_recent(session):", "elif False:"),
        (f"{_NUMBER}::test_recent_proof_is_a_session_of_ten_minutes",),
    ),
    Mutation(
        "The refresh that is no recent proof",
        CORE + "recovery/recent_proof.py",
        to("auth_time__gte=timezone", "refreshed_at__gte=timezone"),
        (f"{_NUMBER}::test_recent_proof_is_not_a_refreshed_session",),
    ),
)

NOTICES = (
    Mutation(
        "The one use of a link that secures an account",
        CORE + "recovery/secure_account.py",
        to("if one_time.consume(ticket):", "if one_time.consume(ticket) or present:"),
        (f"{_SECURE}::test_link_used_twice_acts_once",),
    ),
    Mutation(
        "The end of the links of later changes",
        CORE + "recovery/secure_account.py",
        without("    security_notice.end_later(ticket)\n"),
        (f"{_SECURE}::test_link_ends_those_of_later_changes_and_they_do_nothing",),
    ),
    Mutation(
        "The link that a changed password does not end",
        CORE + "credentials/one_time.py",
        to("addressed=False, lasting=True)", "addressed=False)"),
        (f"{_SECURE}::test_link_undoes_a_password_that_the_thief_changed",),
    ),
    Mutation(
        "The link that a changed address does not end",
        CORE + "credentials/one_time.py",
        without("addressed=False, "),
        (f"{_SECURE}::test_link_brings_an_address_back_that_was_changed_since",),
    ),
    Mutation(
        "The end of the factor that a thief enabled",
        CORE + "recovery/takeover.py",
        without("_recent_factors, "),
        (f"{_SECURE}::test_link_removes_the_factor_the_thief_enabled",),
    ),
    Mutation(
        "The factor from before the change, which the link leaves",
        "authservice/twofactor/disabling.py",
        without(".filter(Q(confirmed=False) | Q(enabled_at__gte=since))"),
        (f"{_SECURE}::test_link_keeps_a_factor_from_before_the_change",),
    ),
    Mutation(
        "The end of the password that a thief chose",
        CORE + "recovery/secure_account.py",
        without("    passwords.store(person, make_password(None))\n"),
        (f"{_SECURE}::test_link_undoes_a_password_that_the_thief_changed",),
    ),
    Mutation(
        "The wait of a number that is brought back",
        CORE + "recovery/secure_account.py",
        to('fields["phone_set_by"] = PhoneSource.SESSION', "pass"),
        (f"{_SECURE}::test_link_of_a_later_change_leaves_the_thief_no_number_to_reset_with",),
    ),
    Mutation(
        "The proof of the address that such a link is mailed to",
        CORE + "messages/security_notice.py",
        to('if email and before["proven_email_key"] == identifiers.email_key(email):', "if email:"),
        (f"{_SECURE}::test_owner_without_a_proven_address_is_told_by_text_without_a_link",),
    ),
)

_LOST = "tests/recovery/test_lost_notices.py"
LOST_NOTICES = (
    Mutation(
        "The look of the worker for lost notices",
        "authservice/notification/worker.py",
        without("    lost_notices.look()\n"),
        (
            "tests/notification/test_lost_notices.py::test_owner_gets_the_link_of_a_notice_that_a_full_queue_lost",
        ),
    ),
    Mutation(
        "The address that was not proven, which gets no notice",
        CORE + "messages/security_notice.py",
        to("elif kind == message_queue.PHONE_CHANGED and _may_text(before):", "else:"),
        ("tests/recovery/test_change_password.py",),
    ),
    Mutation(
        "The link that another job of the notice issued",
        CORE + "messages/security_notice.py",
        without(" or not lost_notices.may_issue(found, message)"),
        (_LOST,),
    ),
    Mutation(
        "The pause between two tries of a lost notice",
        CORE + "messages/lost_notices.py",
        to("if PAUSE * 2**it >= elapsed + PAUSE)", "if True)"),
        (f"{_LOST}::test_tries_that_nobody_made_in_time_are_not_made_up_for",),
    ),
    Mutation(
        "The one lost notice of an account at a time",
        CORE + "messages/lost_notices.py",
        without(".exclude(Exists(older))"),
        (f"{_LOST}::test_account_with_many_lost_notices_does_not_delay_those_of_others",),
    ),
    Mutation(
        "The one process that sends a lost notice again",
        CORE + "messages/lost_notices.py",
        to(
            "filter(pk=row.pk, attempts=row.attempts, digest=None, spent_at=None)",
            "filter(pk=row.pk)",
        ),
        ("tests/recovery/races/test_lost_notices.py",),
        database="postgres",
    ),
)

PAGES = (
    Mutation(
        "The question to a browser that did not sign up",
        CORE + "api/verification_views.py",
        to('if core.verify_confirm == "auto" and shown and not known:', "if False:"),
        (f"{_CONFIRM}::TestPage",),
    ),
    Mutation(
        "The scanner that verifies and proves nothing",
        CORE + "recovery/verification.py",
        to("if proof and not present.email_proven:", "if not present.email_proven:"),
        (f"{_CONFIRM}::TestProof",),
    ),
    Mutation(
        "The address that the cookie of a sign-up is for",
        CORE + "api/signup_cookie.py",
        to("return kept.isascii() and crypto.matches(", "return bool(kept) or crypto.matches("),
        (f"{_CONFIRM}::TestProof",),
    ),
    Mutation(
        "The buttons that other sites do not push",
        CORE + "api/verification_views.py",
        to("if pages.posted_elsewhere(self.request):", "if False:"),
        (f"{_CONFIRM}::TestConfirm",),
    ),
    Mutation(
        "The proven account that nobody denies",
        CORE + "recovery/denied_signup.py",
        to("if present.email_proven:", "if False:"),
        (f"{_CONFIRM}::TestDeny",),
    ),
    Mutation(
        "The end of a link by which a sign-up was denied",
        CORE + "recovery/verification.py",
        to("if not first and not present.email_verified:", "if False:"),
        (f"{_CONFIRM}::TestDeny",),
    ),
    Mutation(
        "The picture that signs nobody in",
        "authservice/kernel/http/pages.py",
        to('request.META.get("HTTP_SEC_FETCH_MODE") == "no-cors"', "False"),
        ("tests/magiclink/test_elsewhere.py",),
    ),
)

FACTORS = (
    Mutation(
        "The sessions from before a second factor, refused by its version",
        CORE + "sessions/sessions.py",
        without("        and session.factor_version == person.factor_version\n"),
        ("tests/core/test_standing.py", "-kfactor_enabled"),
    ),
    Mutation(
        "The version that a login beside the enabling has read",
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
        "The end of devices by a password that staff set in Django admin",
        CORE + "staff/admin_password.py",
        without("        known_devices.revoke_all(person)\n"),
        ("--ds=tests.admin.settings", "tests/admin/inside/test_notices.py", "-kit_ends"),
    ),
)
