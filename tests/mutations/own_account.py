"""What users do with their own account: the proof of the owner."""

from __future__ import annotations

from tests.mutations.kinds import CORE, Mutation, to, without

_CHANGE = "tests/core/own_account/test_change_email.py"
_RACES = "tests/core/own_account/races/test_change_email.py"
_NAMES = "tests/core/own_account/races/test_change_username.py"
_CONFIRM = "tests/core/own_account/test_confirm_email.py"
_DELETION = "tests/core/own_account/test_deletion.py"
_FORMER = "tests/core/own_account/test_former_address.py"
_TRUST = "tests/core/own_account/test_trust_of_new_address.py"
_PROOF = "tests/core/own_account/test_owner_proof.py"

_EXPORT = "tests/core/own_account/test_export.py"

OWN_ACCOUNT = (
    Mutation(
        "The recent proof of an export",
        CORE + "api/me_views.py",
        without("        self.require_proven(Need())\n"),
        (f"{_EXPORT}::TestRefused::test_without_a_recent_proof",),
    ),
    Mutation(
        "The hour between two exports",
        CORE + "staff/export_user.py",
        without("    attempt_counter.consume_flood(key, ONCE)\n"),
        (f"{_EXPORT}::TestRefused::test_for_an_hour_after_an_export",),
    ),
    Mutation(
        "The check of the session before an export, if others check signatures only",
        CORE + "api/endpoint.py",
        to("        self.identity.require_live()\n        step_up", "        step_up"),
        (f"{_EXPORT}::TestRefused::test_after_a_logout_even_if_only_signatures_are_checked",),
    ),
    Mutation(
        "The error in the middle of an export",
        CORE + "api/me_views.py",
        to(
            "        crash(view.request, view.request_id, error)\n        raise\n",
            "        crash(view.request, view.request_id, error)\n",
        ),
        (
            f"{_EXPORT}::TestProject::test_error_ends_the_document_before_it_is_complete",
            f"{_EXPORT}::TestStream::test_async_server_cuts_a_broken_document",
        ),
    ),
    Mutation(
        "The batches in which an export reads rows",
        "authservice/kernel/support_parts.py",
        to("rows.filter(pk__gt=last))[:_ROWS])", "rows.filter(pk__gt=last))[:])"),
        (f"{_EXPORT}::TestStream::test_rows_are_read_while_the_document_is_written",),
    ),
    Mutation(
        "The password that a user who has one must send",
        CORE + "recovery/recent_proof.py",
        to("if person.user.has_usable_password() or not is_recent", "if not is_recent"),
        (f"{_PROOF}::test_password_is_required_even_in_a_recent_session",),
    ),
    Mutation(
        "The code beside the password of the owner",
        CORE + "recovery/recent_proof.py",
        to("            by_code.verify(person, proof.code, client)\n", "            pass\n"),
        (f"{_PROOF}::test_wrong_codes_are_refused_after_ten_attempts_as_throttled",),
    ),
    Mutation(
        "The age of a session that was traded for a token of another package",
        CORE + "recovery/recent_proof.py",
        to(
            'Record(session.levels).proves("aal1", now=clock.utc(), within=RECENT)',
            "clock.now() - session.auth_time <= RECENT",
        ),
        (f"{_PROOF}::test_session_traded_for_a_token_of_another_package_is_never_recent",),
    ),
    Mutation(
        "The second check of the owner's password, under the lock",
        CORE + "recovery/recent_proof.py",
        to("if present.password != checked.user.password:", "if False:"),
        (f"{_PROOF}::test_password_that_changes_after_its_check_is_refused",),
    ),
    Mutation(
        "The count of refusals that reveal a taken identifier",
        CORE + "users/identifier_change.py",
        without('    throttling.count("is-available", client.network)\n'),
        ("tests/core/own_account/test_change_username.py",),
    ),
    Mutation(
        "The refusal of a username that another user takes at the same moment",
        CORE + "users/identifier_change.py",
        to(
            "    except (IntegrityError, errors.Conflict, ValidationFailed) as refusal:\n",
            "    except KeyError as refusal:\n",
        ),
        (f"{_NAMES}::test_username_that_two_users_found_free_goes_to_one",),
        database="postgres",
    ),
    Mutation(
        "The proof of the owner of an address",
        CORE + "own_account/email_change.py",
        without(
            "    recent_proof.require_owner(person, session, proof, client,"
            ' method="change_email")\n'
        ),
        (f"{_CHANGE}::test_stolen_token_of_an_old_session_requests_nothing",),
    ),
    Mutation(
        "The end of a requested address with the password",
        CORE + "own_account/email_change.py",
        to(
            "timedelta(hours=24), addressed=False)",
            "timedelta(hours=24), addressed=False, lasting=True)",
        ),
        (f"{_CONFIRM}::test_password_change_ends_the_link",),
    ),
    Mutation(
        "The end of an earlier request of an address",
        CORE + "own_account/email_change.py",
        without(
            "        rows.filter(created_at__lt=row.created_at).update(spent_at=clock.now())\n"
        ),
        (f"{_CHANGE}::test_new_request_ends_the_one_before",),
    ),
    Mutation(
        "The link that stays valid when the next request is not mailed",
        CORE + "own_account/email_change.py",
        to(
            "        one_time.consume(row)\n        return True\n",
            "        one_time.consume(row)\n",
        ),
        (f"{_CHANGE}::test_request_beyond_the_limit_of_mails_keeps_the_link_before_it",),
    ),
    Mutation(
        "The link to a former address that ends the one to the new address",
        CORE + "own_account/email_change.py",
        (
            ("    # ends the link to the new one.\n    if proof and not own:\n", "    if False:\n"),
            (
                '    change = {"before": before["email"], "after": email}\n',
                "    if proof and not own:\n        takeover.distrust(person, client)\n"
                '    change = {"before": before["email"], "after": email}\n',
            ),
        ),
        (
            "tests/core/own_account/test_trust_of_new_address.py"
            "::test_link_to_the_former_address_wins_over_that_to_the_new_one",
        ),
    ),
    Mutation(
        "The end of a request that is not mailed",
        CORE + "own_account/email_change.py",
        without("        one_time.consume(row)\n"),
        (f"{_CHANGE}::test_request_beyond_the_limit_of_mails_is_not_pending",),
    ),
    Mutation(
        "The later of two concurrent requests of an address",
        CORE + "own_account/email_change.py",
        to("rows.filter(created_at__lt=row.created_at)", "rows.exclude(pk=row.pk)"),
        (f"{_RACES}::test_concurrent_requests_leave_one_open_link",),
        database="postgres",
    ),
    Mutation(
        "The page of a link to a new address",
        CORE + "api/account_views.py",
        to('if core.verify_confirm == "off" or requested_here:', "if True:"),
        (f"{_CONFIRM}::test_browser_gets_a_page_that_names_the_account_and_changes_nothing",),
    ),
    Mutation(
        "The account in the cookie of a requested address",
        CORE + "api/account_views.py",
        to('f"{person.id}|{identifiers.email_key(email)}"', "identifiers.email_key(email)"),
        (f"{_CONFIRM}::test_cookie_of_another_address_or_account_changes_nothing",),
    ),
    Mutation(
        "The second check of an address that staff changed since its request",
        CORE + "own_account/email_change.py",
        to("    if not _is_unchanged(person, issued):", "    if False:"),
        (f"{_CHANGE}::test_address_that_staff_changed_meanwhile_stays",),
    ),
    Mutation(
        "The end of a requested address with all sessions",
        CORE + "own_account/email_change.py",
        without(" and person.token_version == version"),
        (f"{_CHANGE}::test_end_of_all_sessions_ends_the_request_of_a_user_without_a_password",),
    ),
    Mutation(
        "The reservation of a former address",
        CORE + "own_account/email_change.py",
        to("        reserve(person, former_key)\n", "        pass\n"),
        (f"{_FORMER}::test_former_address_is_reserved_for_three_days",),
    ),
    Mutation(
        "The former address that was never proven",
        CORE + "own_account/email_change.py",
        to('    if before["proven_email_key"] == former_key:\n', "    if former_key:\n"),
        (f"{_FORMER}::test_former_address_that_was_never_proven_is_free_at_once",),
    ),
    Mutation(
        "The distrust after a changed address that another client confirms",
        CORE + "own_account/email_change.py",
        to("    if proof and not own:\n", "    if False:\n"),
        (f"{_TRUST}::test_number_loses_its_privilege_if_another_client_confirms",),
    ),
    Mutation(
        "The reservation that no cleanup ends early",
        CORE + "cleanup.py",
        to("AddressReservation.objects.filter(expires_at__lte=now)", "AddressReservation.objects"),
        (f"{_FORMER}::test_reservation_remains_after_a_recovery_and_a_cleanup",),
    ),
    Mutation(
        "The end of links to a former address",
        CORE + "own_account/email_change.py",
        to("    if former_key:\n", "    if False:\n"),
        (f"{_CONFIRM}::test_links_to_the_former_address_end",),
    ),
    Mutation(
        "The setting that lets users delete themselves",
        CORE + "own_account/deletion.py",
        to("    if not core.allow_self_delete:", "    if False:"),
        (f"{_DELETION}::test_deletion_is_disabled_by_default",),
    ),
    Mutation(
        "The proof of the owner who deletes the account",
        CORE + "own_account/deletion.py",
        without(
            "    recent_proof.require_owner(person, session, proof, client,"
            ' method="delete_account")\n'
        ),
        (f"{_DELETION}::test_stolen_token_of_an_old_session_deletes_nothing",),
    ),
    Mutation(
        "The last super admin who deletes the account",
        CORE + "own_account/deletion.py",
        to(
            "        super_admins.read_locked(person.user.pk, locked_keys, losing=True)\n",
            "        pass\n",
        ),
        (f"{_DELETION}::test_last_super_admin_stays",),
    ),
    Mutation(
        "The link that a user without a password needs",
        CORE + "own_account/deletion.py",
        to("    if not has_password and person.email_proven and", "    if False and"),
        (f"{_DELETION}::test_user_without_a_password_gets_a_link_even_in_an_old_session",),
    ),
    Mutation(
        "The password that changes between the proof and the deletion",
        CORE + "own_account/deletion.py",
        without("        recent_proof.require_unchanged(person, present)\n"),
        (f"{_PROOF}::test_password_that_changes_after_its_check_is_refused",),
    ),
    Mutation(
        "The setting when a worker composes the link of a deletion",
        CORE + "own_account/deletion.py",
        without("core.allow_self_delete and "),
        (_DELETION,),
    ),
    Mutation(
        "The password under which a new address was requested",
        CORE + "own_account/email_change.py",
        without(
            " and passwords.matches_fingerprint(\n"
            "        row.password_fingerprint, person.user.password\n    )"
        ),
        (_CHANGE,),
    ),
)
