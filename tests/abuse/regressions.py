"""Mistakes of similar packages, each with the tests that prevent it here.

Each names its tests below `tests`.
"""

from __future__ import annotations

COVERED = {
    "X-Forwarded-For is trusted by default": [
        "kernel/test_throttling.py::test_x_forwarded_for_is_not_trusted_by_default",
        "kernel/test_throttling.py"
        "::test_addresses_before_the_entry_of_a_trusted_proxy_are_not_trusted",
    ],
    "Parallel requests exceed a limit": [
        "races/test_attempts.py::test_parallel_wrong_passwords_are_checked_up_to_the_limit",
        "core/recovery/races/test_limits.py::test_concurrent_requests_send_all_three_messages",
    ],
    "Two windows of one scope share one counter": [
        "abuse/test_regressions.py::test_windows_of_one_scope_have_separate_counters",
    ],
    "A code is accepted in another notation": [
        "abuse/test_regressions.py::test_code_in_any_notation_is_compared_as_ascii_digits",
    ],
    "The attempts at one factor lock another": [
        "core/credentials/test_purposes.py::test_attempts_at_one_purpose_are_not_counted_at_another",
        "core/credentials/test_lockout.py::test_lockout_counts_username_and_address_separately",
        "twofactor/test_attempts.py::test_lockout_of_app_codes_leaves_backup_codes_usable",
        "twofactor/test_attempts.py::test_lockout_of_backup_codes_leaves_app_codes_usable",
    ],
    "A code beyond ASCII causes a 5xx": [
        "abuse/test_regressions.py::test_secret_beyond_ascii_is_not_a_5xx",
    ],
    "A factor or token of a deactivated user stays valid": [
        "twofactor/test_challenge.py::test_temp_token_ends_when_user_is_deactivated_or_password_changes",
        "core/recovery/test_reset_by_code.py::test_code_of_a_user_deactivated_meanwhile_is_refused",
        "core/recovery/test_reset_by_link.py::test_link_of_a_user_deactivated_meanwhile_is_invalid",
        "core/recovery/test_verify_email.py::test_link_of_a_user_deactivated_meanwhile_is_invalid",
    ],
    "The flow continues after the last attempt": [
        "twofactor/test_challenge.py::test_temp_token_accepts_five_attempts",
        "core/recovery/test_reset_by_code.py"
        "::test_right_code_after_five_attempts_is_refused_as_a_wrong_one",
        "core/recovery/test_verify_phone.py"
        "::test_right_code_after_five_attempts_is_refused_as_a_wrong_one",
    ],
    "A one-time token is accepted twice by parallel requests": [
        "core/recovery/races/test_codes.py::test_right_code_sent_concurrently_succeeds_once",
        "core/recovery/races/test_links.py::test_reset_link_used_concurrently_works_once",
        "races/test_refresh.py::test_one_of_many_parallel_refreshes_of_a_token_succeeds",
    ],
    "A token stays valid after the password was changed outside the package": [
        "core/sessions/test_revocation.py::test_revocation_refuses_every_access_token",
        "core/sessions/test_revocation.py::test_revocation_refuses_every_refresh_token",
    ],
    "A body that is a list causes a 5xx": [
        "abuse/test_regressions.py::test_body_that_is_no_object_is_not_a_5xx",
    ],
    "ALLOWED_HOSTS of '*' lets the Host header choose redirects and links": [
        "core/api/test_redirects.py::test_verify_email_redirect_cannot_be_changed_by_a_header",
        "core/messages/test_links.py::test_links_ignore_the_headers_of_a_request",
    ],
    "Variants of an address share an account but not its limit of attempts": [
        "core/login/test_signup_identity.py::test_signup_with_an_equivalent_address_is_refused",
        "abuse/test_regressions.py::test_variants_of_an_address_share_the_limit_of_attempts",
    ],
    "A recent login replaces the old password": [
        "abuse/test_regressions.py::test_password_change_after_fresh_login_requires_old_password",
    ],
    "A parameter names a setting or a redirect target": [
        "abuse/test_redirects.py::test_parameter_never_redirects_to_another_site",
    ],
    "The text of an exception leaks a secret of the request": [
        "abuse/test_regressions.py::test_unexpected_exception_leaks_no_secret_of_the_request",
    ],
    "Keys are parsed on each request": [
        "abuse/test_regressions.py::test_signing_keys_are_parsed_once",
    ],
    "A stored URL redirects to any site": [
        "abuse/test_redirects.py::test_stored_value_never_redirects_to_another_site",
    ],
    "A data migration ignores --database": [
        "hosts/inside/test_migrations.py::test_migrations_applied_again_serve_existing_users",
        "abuse/test_regressions.py::test_data_migration_uses_the_database_of_its_schema_editor",
    ],
    "Attempts during enrolment are not limited": [
        "twofactor/test_attempts.py::test_attempts_at_enabling_are_limited_too",
    ],
    "A code is replayed in another notation": [
        "twofactor/test_verify.py::test_code_with_other_characters_is_refused",
        "twofactor/test_challenge.py::test_code_works_once",
        "twofactor/inside/test_otp_site.py::test_code_with_other_characters_is_refused",
    ],
    "An aborted login leaves a passed factor for the next login": [
        "twofactor/test_challenge.py::test_challenge_starts_no_session",
        "twofactor/test_challenge.py::test_temp_token_works_once",
        "twofactor/test_remembered.py::test_device_is_remembered_only_on_request",
    ],
    "A reassignable name is the identity": [
        "oauth/flow/test_sign_in.py::test_returning_user_keeps_the_account_whatever_the_address",
        "oauth/flow/test_sign_in.py::test_same_subject_of_another_provider_is_another_user",
    ],
    "A state is accepted from another provider": [
        "oauth/flow/test_state.py::test_callback_of_another_provider_is_refused",
    ],
    "A state is missing": [
        "oauth/flow/test_state.py::test_missing_or_unknown_state_is_refused",
    ],
    "Parallel tabs lose their states": [
        "oauth/flow/test_state.py::test_several_tabs_log_in_at_once",
    ],
    "A missing identity is stored as 'None'": [
        "oauth/providers/test_named.py::test_missing_or_meaningless_subject_is_refused",
    ],
    "A token is stored in shared settings": [
        "oauth/providers/test_registry.py::test_provider_keeps_nothing_of_a_login",
    ],
    "An allow-list accepts a user without address": [
        "oauth/flow/test_sign_in.py::test_new_user_without_a_usable_address_is_refused",
    ],
    "The last way to log in is removed": [
        "oauth/flow/test_linking.py::test_last_way_to_log_in_stays",
        "oauth/races/test_races.py::test_last_two_providers_unlinked_at_once_keep_one",
    ],
    "The logged-in user changes during the flow": [
        "oauth/flow/test_linking.py::test_user_who_changed_since_the_start_links_nothing",
    ],
}
