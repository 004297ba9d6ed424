"""Access from before the first verification of an address, and rescue of an account by staff."""

from __future__ import annotations

from tests.mutations.kinds import CORE, Mutation, to, without

_EARLIER = "tests/core/recovery/test_earlier_access.py"
_HIDDEN = "tests/core/login/test_hidden_signup_unproven.py"
_TRADE = "--ds=tests.compat.settings"
_REVOCATION = "tests/compat/inside/test_revocation.py"
_NUMBER = "tests/core/credentials/test_recovery_number.py"
_OF_PAGES = "tests/pages/inside/test_first_proof.py"
_PAGES = "--ds=tests.pages.settings"

EARLIER = (
    Mutation(
        "The lost privilege of a sign-up number after a proof that is not the user's own",
        CORE + "recovery/takeover.py",
        to('"phone_set_by": PhoneSource.SESSION,', '"phone_set_by": account.phone_set_by,'),
        (f"{_EARLIER}::test_number_of_the_sign_up_is_removed_by_the_reset_of_the_owner",),
    ),
    Mutation(
        "The wait of such a number, which begins at the proof",
        CORE + "recovery/takeover.py",
        to("now if person.phone_number_verified else None", "account.phone_verified_at"),
        (f"{_EARLIER}::test_number_verified_long_before_the_first_proof_waits_72_hours_from_it",),
    ),
    Mutation(
        "The number set by staff, which a proof does not change",
        CORE + "recovery/takeover.py",
        without(" and account.phone_set_by != PhoneSource.STAFF"),
        (f"{_EARLIER}::test_number_set_by_staff_keeps_its_source",),
    ),
    Mutation(
        "The number that the link of a first proof removes",
        CORE + "recovery/takeover.py",
        without(", **phone_numbers.NO_NUMBER"),
        (f"{_EARLIER}::test_notice_goes_to_the_proven_address_and_its_link_removes_the_number",),
    ),
    Mutation(
        "The factor that the link of a first proof removes",
        CORE + "recovery/takeover.py",
        to("since=_LONG_AGO", "since=None"),
        (f"{_EARLIER}::test_link_of_the_notice_removes_the_factor_that_would_lock_the_owner_out",),
    ),
    Mutation(
        "The notice of a factor from before the first proof",
        CORE + "recovery/takeover.py",
        without(" or factor"),
        (f"{_EARLIER}::test_link_of_the_notice_removes_the_factor_that_would_lock_the_owner_out",),
    ),
    Mutation(
        "The distrust after a proof that is not the user's own",
        CORE + "recovery/verification.py",
        to("if not (signed_up_here or is_same(present, caller)):", "if False:"),
        (f"{_EARLIER}::test_number_of_the_sign_up_is_removed_by_the_reset_of_the_owner",),
    ),
    Mutation(
        "The distrust after a reset that removes nothing",
        CORE + "recovery/password_reset.py",
        to("        if suspect and not core.wipe_unproven:\n", "        if False:\n"),
        (f"{_EARLIER}::test_reset_removes_the_privilege_if_unproven_access_is_not_wiped",),
    ),
    Mutation(
        "The session of a user of the pages who proves the own address",
        CORE + "api/callers.py",
        without(" or _live(_of_session, request)"),
        (_PAGES, f"{_OF_PAGES}::test_signed_in_user_keeps_what_the_account_has"),
    ),
    Mutation(
        "The device cookie of a user of the pages who proves the own address",
        CORE + "api/callers.py",
        to(
            "if caller is None or lockout.find_device(device, caller.person) is None:",
            "if caller is None:",
        ),
        (
            _PAGES,
            f"{_OF_PAGES}::test_session_whose_cookie_a_sibling_host_planted_keeps_nothing",
        ),
    ),
    Mutation(
        "The site that sends a request in which such a session counts",
        CORE + "api/callers.py",
        without(" and _is_of_this_site(request)"),
        (_PAGES, _OF_PAGES, "-kof_another_site_keeps_nothing"),
    ),
    Mutation(
        "The origin without which a post request does not count such a session",
        CORE + "api/callers.py",
        to("return pages.posted_here(request)", "return not pages.posted_elsewhere(request)"),
        (_PAGES, _OF_PAGES, "-kof_unknown_origin_keeps_nothing"),
    ),
    Mutation(
        "The token that names another user than the session of the browser",
        CORE + "api/callers.py",
        to(
            'return not request.META.get("HTTP_AUTHORIZATION") or has_foreign_token(request)',
            "return True",
        ),
        (
            _PAGES,
            f"{_OF_PAGES}::test_token_of_an_ended_session_counts_before_the_cookie_of_django",
        ),
    ),
    Mutation(
        "The end of such a session since the start of a login with a provider that posts",
        "authservice/oauth/flow.py",
        to("if match and sessions.is_valid(*match) else None", "if match else None"),
        (_PAGES, f"{_OF_PAGES}::test_session_that_ended_since_the_start_keeps_nothing"),
    ),
    Mutation(
        "The user of the pages who accepts an invitation as the first proof",
        CORE + "invitations/acceptance.py",
        to("present if session else current.visitor", "present if session else None"),
        (_PAGES, f"{_OF_PAGES}::test_signed_in_user_keeps_what_the_account_has"),
    ),
    Mutation(
        "The link of a sign-up that ended without a login",
        CORE + "recovery/first_proof.py",
        to("or any(access.is_set_up(person) for access in plugs(AccountAccess))", "or False"),
        ("tests/oauth/flow/test_refused_signup.py", "-kstopped"),
    ),
    Mutation(
        "The session of a user who has never logged in by Django",
        CORE + "recovery/first_proof.py",
        to("or Session.objects.filter(user=person.user.pk).exists()", "or False"),
        (_TRADE, f"{_REVOCATION}::test_first_proof_ends_a_traded_session"),
    ),
    Mutation(
        "The tokens of simplejwt of a user who has never logged in by Django",
        CORE + "recovery/first_proof.py",
        to("or any(tokens.exist(person) for tokens in plugs(ForeignTokens))", "or False"),
        (_TRADE, f"{_REVOCATION}::test_first_proof_blocks_tokens_that_were_never_traded"),
    ),
    Mutation(
        "The distrust after a magic link that removes nothing",
        CORE + "recovery/first_proof.py",
        to("if suspect and not core.wipe_unproven:", "if False:"),
        ("tests/magiclink/test_takeover.py", "-ksetting_turned_off"),
    ),
    Mutation(
        "The sign-up with an unproven address, which verifies nothing",
        CORE + "login/signup.py",
        to("if created == person.user.pk:", "if not person.email_verified:"),
        (f"{_HIDDEN}::test_signup_at_an_unverified_address_mails_no_link_that_verifies_it",),
    ),
    Mutation(
        "The address that only a scanner has verified",
        CORE + "login/signup.py",
        to("if not person.email_proven:", "if not person.email_verified:"),
        (_HIDDEN, "-kverified_by_a_scanner"),
    ),
    Mutation(
        "The revocation of notices by a new address that staff set",
        CORE + "messages/security_notice.py",
        to("rows.update(spent_at=now, expires_at=now)", "pass"),
        ("tests/admin_api/test_rescue.py",),
    ),
    Mutation(
        "The password that confirms a number set by staff",
        CORE + "recovery/profile.py",
        to("if not proven or account.phone_set_by", "if account.phone_set_by"),
        (f"{_NUMBER}::test_number_set_by_staff_is_not_confirmed_by_a_profile_without_password",),
    ),
    Mutation(
        "The lock of a confirmation during a denial",
        CORE + "recovery/verification.py",
        without("    passwords.lock_user(person)\n"),
        ("tests/core/recovery/races/test_denial.py",),
        database="postgres",
    ),
)
