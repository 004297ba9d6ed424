"""Thirty mistakes that packages of our kind made, each with the tests that hold it off here.

A rule names the tests in `tests`; where the part it concerns is a module that is not in the tree,
it stands in `UNSHIPPED` with what its test must show once the module is here.
"""

from __future__ import annotations

HELD = {
    "X-Forwarded-For is trusted by default": [
        "core/test_flood_limits.py::test_x_forwarded_for_is_not_believed_by_default",
        "core/test_flood_limits.py"
        "::test_what_a_client_puts_before_a_trusted_proxys_entry_is_not_believed",
    ],
    "Parallel requests beat a limit": [
        "races/test_guesses.py::test_of_many_guesses_at_once_the_budget_is_judged",
        "recovery/races/test_limits.py::test_three_letters_are_sent_however_many_ask_at_once",
    ],
    "Two windows of one scope share a counter": [
        "abuse/test_regressions.py::test_two_windows_of_one_scope_count_apart",
    ],
    "A code is taken in another spelling": [
        "abuse/test_regressions.py::test_a_code_has_one_spelling",
    ],
    "The tries of one factor lock another": [
        "recovery/test_purposes.py::test_tries_at_one_purpose_are_not_counted_at_another",
        "core/test_guess_limits.py::test_username_and_address_are_counted_apart",
        "twofactor/test_guesses.py::test_who_uses_up_the_app_leaves_the_backup_codes",
        "twofactor/test_guesses.py::test_who_uses_up_the_backup_codes_leaves_the_app",
    ],
    "A code beyond ASCII crashes": [
        "abuse/test_regressions.py::test_a_secret_beyond_ascii_crashes_nothing",
    ],
    "What an inactive user passed is carried over": [
        "twofactor/test_challenge.py::test_it_ends_with_its_person_and_the_password",
        "recovery/test_reset_by_code.py::test_a_code_of_somebody_who_is_inactive_by_now_is_invalid",
        "recovery/test_reset_by_link.py::test_a_link_of_somebody_who_is_inactive_by_now_is_invalid",
        "recovery/test_verify_email.py::test_a_link_of_somebody_who_is_inactive_by_now_is_invalid",
    ],
    "Past the last try the flow goes on": [
        "twofactor/test_challenge.py::test_it_takes_five_tries",
        "recovery/test_reset_by_code.py"
        "::test_after_five_tries_the_right_one_answers_as_a_wrong_one",
        "recovery/test_verify_phone.py::test_after_five_tries_the_right_one_answers_as_a_wrong_one",
    ],
    "A one-time secret serves two at once": [
        "recovery/races/test_codes.py::test_of_many_right_codes_one_succeeds",
        "recovery/races/test_links.py::test_one_of_many_uses_of_a_reset_link_wins",
        "races/test_refresh.py::test_one_of_many_refreshes_of_a_token_wins",
    ],
    "A token outlives a password changed elsewhere": [
        "core/test_standing.py::test_every_access_token_is_refused",
        "core/test_standing.py::test_every_refresh_token_is_refused",
    ],
    "A body that is a list crashes": [
        "abuse/test_regressions.py::test_a_body_that_is_no_object_crashes_nothing",
    ],
    "ALLOWED_HOSTS of everybody opens redirects and links": [
        "recovery/test_redirects.py::test_no_header_changes_the_way_on",
        "recovery/test_links.py::test_no_header_changes_them",
    ],
    "Twins of an address share an account and not a budget": [
        "core/test_signup_identity.py::test_twins_of_an_address_are_one_account",
        "abuse/test_regressions.py::test_twins_of_an_address_share_a_budget",
    ],
    "A recent login counts as proof anew": [
        "abuse/test_regressions.py::test_a_fresh_login_is_no_old_password",
    ],
    "A parameter is taken for the name of a setting, or for the way on": [
        "abuse/test_redirects.py::test_no_parameter_leads_a_browser_elsewhere",
    ],
    "The text of an exception leaks a secret of the request": [
        "abuse/test_regressions.py::test_a_crash_leaks_no_secret_of_its_request",
    ],
    "Keys are parsed on each request": [
        "abuse/test_regressions.py::test_keys_are_parsed_once",
    ],
    "A stored address redirects anywhere": [
        "abuse/test_redirects.py::test_nothing_that_is_stored_leads_a_browser_elsewhere",
    ],
    "A data migration ignores --database": [
        "hosts/inside/test_migrations.py::test_migrating_forth_again_serves_the_users_who_stayed",
        "abuse/test_regressions.py::test_no_migration_moves_data_in_a_database_of_its_own_choice",
    ],
    "Enrolment is not limited": [
        "twofactor/test_guesses.py::test_enabling_is_limited_too",
    ],
    "A code is replayed in another spelling": [
        "twofactor/test_verify.py::test_no_other_spelling_of_a_code_does",
        "twofactor/test_challenge.py::test_a_code_works_once",
        "twofactor/inside/test_otp_site.py::test_a_code_has_one_spelling_there_too",
    ],
    "An aborted login leaves a factor for the next one": [
        "twofactor/test_challenge.py::test_it_begins_no_sign_in",
        "twofactor/test_challenge.py::test_it_works_once",
        "twofactor/test_remembered.py::test_only_who_asks_for_it_is_remembered",
    ],
}

UNSHIPPED = {
    "oauth": {
        "A name that can change hands is the identity": "identities are (provider, subject)",
        "A state is used at another provider": "the state names its provider",
        "A state is missing": "no callback without one",
        "Parallel tabs lose their states": "each flow has a cookie of its own",
        "A missing identity is stored as 'None'": "no subject, no link",
        "A token ends up in settings that are shared": "nothing mutable outlives a request",
        "An allow-list passes who has no address": "no address is no member",
        "The last way in is removed": "OAUTH_LAST_LOGIN_METHOD",
        "The signed-in user changes on the way": "the state names who began",
    },
}
