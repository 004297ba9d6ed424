"""Limits of attempts, messages and work, and the secrets and texts of a request."""

from __future__ import annotations

from tests.mutations.kinds import CORE, HTTP, Mutation, to, without

_DAILY = "tests/core/credentials/test_daily_attempts.py"
_DEVICES = "tests/core/credentials/test_device_limits.py"
_CODES = "tests/core/credentials/test_code_attempts.py"
_NETWORKS = "tests/core/credentials/test_shared_networks.py"
_TURNS = "tests/core/credentials/test_turns.py"
_MAILS = "tests/core/messages/test_limits.py"
_TEXTS = "tests/core/messages/test_text_limits.py"
_NEW_DEVICES = "tests/notification/test_new_devices.py"
_COUNTING = CORE + "messages/sending.py"

ATTEMPTS = (
    Mutation(
        "The daily limit on attempts for an identifier",
        CORE + "credentials/attempt_counter.py",
        without(", daily=50"),
        (f"{_DAILY}::test_identifier_known_or_unknown_has_fifty_attempts_a_day",),
    ),
    Mutation(
        "The daily limit on codes for a target",
        CORE + "credentials/lockout.py",
        without(", daily=10"),
        (f"{_CODES}::test_unknown_clients_have_ten_attempts_a_day_over_all_codes",),
    ),
    Mutation(
        "The daily count, which a new code does not reset",
        CORE + "credentials/attempt_counter.py",
        to("update(count=0, ends_at=now)", "update(count=0, ends_at=now, day_count=0)"),
        (f"{_CODES}::test_unknown_clients_have_ten_attempts_a_day_over_all_codes",),
    ),
    Mutation(
        "The end of the window of earlier codes, which begins a new code",
        CORE + "credentials/attempt_counter.py",
        to("update(count=0, ends_at=now)", "update(count=0)"),
        (
            f"{_CODES}::test_code_has_five_attempts_when_a_day_ends_meanwhile",
            f"{_CODES}::test_new_code_has_five_attempts_after_a_right_one",
        ),
    ),
    Mutation(
        "The separate attempts of a known device at a code",
        CORE + "credentials/lockout.py",
        to("    if device is not None:\n", "    if False:\n"),
        (f"{_CODES}::test_wrong_codes_of_unknown_clients_leave_the_code_to_a_known_device",),
    ),
    Mutation(
        "The attempts at a code that verifies a number, shared by all devices",
        CORE + "credentials/lockout.py",
        to("    if not opens_account:\n", "    if not opens_account and device is None:\n"),
        (f"{_CODES}::test_code_that_verifies_a_number_has_five_attempts_for_all_devices",),
    ),
    Mutation(
        "The attempts that all devices of an account share",
        CORE + "credentials/lockout.py",
        to(
            "            try:\n                attempt_counter.consume(\n",
            "            try:\n                str(\n",
        ),
        (f"{_DEVICES}::test_devices_of_an_account_share_a_hundred_attempts_a_day",),
    ),
    Mutation(
        "The newest devices, the only ones with separate attempts",
        CORE + "credentials/lockout.py",
        without("        and token.device.hex in device_ids(person)\n"),
        (f"{_DEVICES}::test_newest_devices_have_attempts_of_their_own",),
    ),
    Mutation(
        "The revocation of device tokens by a changed password",
        CORE + "credentials/lockout.py",
        without("        and token.version == person.device_version\n"),
        (_DEVICES, "tests/core/credentials/test_known_devices.py"),
    ),
    Mutation(
        "The account whose devices share the general limit",
        HTTP + "incoming.py",
        to("account {client.device.user}", "account {client.device.device}"),
        (f"{_NETWORKS}::test_general_limit_is_shared_by_the_devices_of_an_account",),
    ),
    Mutation(
        "The network in the general limit of an account",
        HTTP + "incoming.py",
        to('f"account {client.device.user} {client.network}"', 'f"account {client.device.user}"'),
        (f"{_NETWORKS}::test_device_token_used_elsewhere_does_not_use_up_the_general_limit",),
    ),
    Mutation(
        "The general limit of all devices of a network",
        HTTP + "incoming.py",
        to("times=_OF_DEVICES", "times=99"),
        (f"{_NETWORKS}::test_devices_pass_the_general_limit_of_a_network_up_to_three_times_it",),
    ),
    Mutation(
        "The separate general limit of a known device",
        HTTP + "incoming.py",
        to("if client.device is None:", "if True:"),
        (f"{_NETWORKS}::test_general_limit_counts_a_known_device_separately_from_its_network",),
    ),
    Mutation(
        "The levels of JSON that is sent",
        HTTP + "incoming.py",
        to("        if not level:\n            return value", "        return value"),
        ("tests/kernel/test_bodies.py",),
    ),
    Mutation(
        "The turn of each attempt at one counter",
        CORE + "credentials/passwords.py",
        to(
            "        if not queue.lock.acquire(timeout=WAIT):",
            "        queue.lock = RLock()\n        if not queue.lock.acquire(timeout=WAIT):",
        ),
        (f"{_TURNS}::test_attempt_waits_for_the_one_before_it_at_the_same_counter",),
    ),
    Mutation(
        "The one wait for a turn and a slot",
        CORE + "credentials/passwords.py",
        to("_take_slot(max(0.0, deadline - monotonic()))", "_take_slot(WAIT)"),
        (f"{_TURNS}::test_wait_for_the_counter_shortens_the_wait_for_a_slot",),
    ),
    Mutation(
        "The turn of a known device, which other clients do not delay",
        CORE + "credentials/lockout.py",
        to(
            "passwords.hash_turn(attempt.key)", "passwords.hash_turn(by_identifier(identifier_key))"
        ),
        (_TURNS,),
    ),
    Mutation(
        "The turn of a password in a session",
        CORE + "recovery/recent_proof.py",
        to("    with passwords.hash_turn(attempt):", "    if True:"),
        (f"{_TURNS}::test_password_that_waits_for_its_turn_in_a_session_is_not_counted",),
    ),
)

_INVITATIONS = "tests/invitation/test_limits.py"
MESSAGES = (
    Mutation(
        "One mail a day of a sender to the recipient of an invitation",
        _COUNTING,
        to('[_take_or_refuse(limits.INVITATION_MAIL, f"{sender.id}|{recipient}")]', "[]"),
        (_INVITATIONS,),
    ),
    Mutation(
        "The half of the mails of a recipient that new senders may not use",
        _COUNTING,
        to(
            "    if not sender.email_proven or sender.account.created_at > clock.now() - _NEW:\n",
            "    if False:\n",
        ),
        (_INVITATIONS,),
    ),
    Mutation(
        "The hidden refusal of a login with an address that is not verified",
        CORE + "login/login.py",
        to(
            'if core.signup_enumeration != "hide":\n            raise',
            "if True:\n            raise",
        ),
        ("tests/core/login/test_hidden_verification.py",),
    ),
    Mutation(
        "The attempts of a network at an address that is not verified",
        CORE + "login/login.py",
        without("        lockout.count_network(None, client)\n"),
        ("tests/core/login/test_hidden_verification.py",),
    ),
    Mutation(
        "The guard that protect adds to the pages of users",
        "authservice/core/staff/admin_site.py",
        to("(SuperAdminGuard, type(page))", "(type(page),)"),
        ("tests/readme/test_new_project.py",),
    ),
    Mutation(
        "The limit on messages that one sender may request",
        _COUNTING,
        to("if not _take_all(_of_sender(subject, sender)):", "if False:"),
        (f"{_MAILS}::test_messages_to_a_recipient_are_limited_to_three_in_fifteen_minutes",),
    ),
    Mutation(
        "The limit on mails that all unknown senders may request",
        _COUNTING,
        to("if _take_all([_of_everybody(subject, sender)]):", "if subject:"),
        (f"{_MAILS}::test_unknown_clients_together_can_send_thirty_one_emails_a_day",),
    ),
    Mutation(
        "The one mail a day that is sent beyond the limit",
        _COUNTING,
        to("if sender.account is None and _take(limits.LAST_MAIL, subject):", "if False:"),
        (f"{_MAILS}::test_unknown_clients_together_can_send_thirty_one_emails_a_day",),
    ),
    Mutation(
        "The limit on text messages of one client",
        _COUNTING,
        without(", (limits.SENDER_TEXTS, sender.id)"),
        (f"{_TEXTS}::test_client_can_cause_ten_sms_an_hour_to_all_numbers",),
    ),
    Mutation(
        "The limit on text messages of the devices of one account",
        _COUNTING,
        without("        counted.append((limits.ACCOUNT_TEXTS, account.id))\n"),
        (f"{_TEXTS}::test_new_devices_of_one_account_share_thirty_sms_a_day",),
    ),
    Mutation(
        "The limit on text messages of the accounts of one client",
        _COUNTING,
        to("counted.append((limits.NETWORK_TEXTS, sender.network))", "pass"),
        (f"{_TEXTS}::test_accounts_of_one_client_share_thirty_sms_an_hour_to_unverified_numbers",),
    ),
    Mutation(
        "The text messages reserved for verified numbers",
        _COUNTING,
        to("policy.per_hour * 4 // 5", "policy.per_hour"),
        (f"{_TEXTS}::test_fifth_of_the_total_limit_is_reserved_for_verified_numbers",),
    ),
    Mutation(
        "The limit on messages that no user requested",
        _COUNTING,
        without("    if not key:\n        raise Refused\n"),
        (f"{_NEW_DEVICES}::test_other_notices_are_limited_to_ten_a_day_for_each_kind_and_address",),
    ),
    Mutation(
        "The session of an attacker, which makes no browser familiar",
        CORE + "messages/new_devices.py",
        without(" if _is_trusted(row)"),
        (f"{_NEW_DEVICES}::test_browser_of_a_session_revoked_for_security_causes_an_email",),
    ),
)

WORK = (
    Mutation(
        "The limit on concurrent password hashes",
        CORE + "credentials/passwords.py",
        to("return core.hashes_in_flight or", "return 64 or"),
        (
            "tests/core/credentials/test_hash_limit.py::test_concurrent_hashes_are_bounded_by_the_setting",
        ),
    ),
    Mutation(
        "The refund of an attempt whose login a table of the project refuses",
        CORE + "credentials/lockout.py",
        to("    Conflict,\n", ""),
        (
            "tests/core/login/test_login_signals.py::"
            "test_rows_that_receivers_of_a_login_cannot_save_lock_nobody_out",
        ),
    ),
    Mutation(
        "The pause after a failure of the cache",
        "authservice/kernel/throttling.py",
        to("        _breaker.open()\n", "        pass\n"),
        ("tests/kernel/test_flood_breaker.py",),
    ),
    Mutation(
        "The limit on combining marks in a row",
        HTTP + "fields.py",
        to("if in_a_row > MARKS:", "if False:"),
        (
            "tests/contract/test_text_bounds.py::test_thirty_combining_marks_in_a_row_are_the_maximum",
        ),
    ),
    Mutation(
        "The hidden value of a printed secret",
        "authservice/kernel/secret.py",
        to('return "Secret(...)"', "return self.__text"),
        ("tests/kernel/test_secret.py",),
    ),
    Mutation(
        "The refusal to pickle a secret",
        "authservice/kernel/secret.py",
        to(
            'raise TypeError("A secret cannot be pickled or copied.")',
            "return (Secret, (self.__text,))",
        ),
        ("tests/kernel/test_secret.py",),
    ),
    Mutation(
        "The single normal form of an address",
        CORE + "users/identifiers.py",
        without(" or '\"' in local"),
        ("tests/core/users/test_email_syntax.py",),
    ),
    Mutation(
        "The single account that the worker creates for a sign-up",
        CORE + "login/signup.py",
        to("rows.filter(spent_at=None).update", "rows.update"),
        ("tests/core/login/test_hidden_signup.py",),
    ),
    Mutation(
        "The audit entry of a refused reset",
        CORE + "recovery/password_reset.py",
        to("            _record_failure(owner, client, error)", "            pass"),
        (
            "--ds=tests.audit.settings",
            "tests/audit/inside/test_action_entries.py",
            "-kreset-password",
        ),
    ),
    Mutation(
        "The audit entry of a wrong password that a session sends",
        CORE + "recovery/recent_proof.py",
        without(
            '        events.record("auth.reauthentication.failed", person, client, method=method)\n'
        ),
        ("--ds=tests.audit.settings", "tests/audit/inside/test_entries.py", "-knames_the_route"),
    ),
    Mutation(
        "The token of a mailed link, hidden in error reports",
        HTTP + "envelope.py",
        without('    request.META["QUERY_STRING"] = request.GET.urlencode(safe="[]")\n'),
        ("tests/abuse/test_reports.py",),
    ),
    Mutation(
        "The token in URLs that servers add, hidden in error reports",
        HTTP + "envelope.py",
        to('elif isinstance(value, str) and "?" in value:', "elif False:"),
        ("tests/abuse/test_reports.py", "-kaddress_that_a_server"),
    ),
)

TEXTS = (
    Mutation(
        "The length of a text, checked before anything else",
        HTTP + "fields.py",
        to("if len(trimmed) > max_length:", "if False:"),
        ("tests/contract/test_text_bounds.py::test_text_length_is_checked_before_normalisation",),
    ),
    Mutation(
        "The sign-up that does not reveal whether the address was taken",
        CORE + "login/signup.py",
        to('if core.signup_enumeration == "hide" and new_user.email:', "if False:"),
        ("tests/core/login/test_hidden_signup.py",),
    ),
    Mutation(
        "The encryption of a stored sign-up",
        CORE + "login/signup.py",
        to("secret.seal(_PURPOSE, json.dumps(", "str(json.dumps("),
        (
            "tests/core/login/test_hidden_signup.py::test_hidden_signup_job_and_row_do_not_contain_the_submitted_values",
        ),
    ),
    Mutation(
        "The link beyond the daily limit, which no later request revokes",
        CORE + "credentials/one_time.py",
        to(
            "_with_code(purpose, target_key).update(spent_at=clock.now())",
            "_unspent(purpose, target_key).update(spent_at=clock.now())",
        ),
        ("tests/magiclink/test_daily_mail_limit.py",),
    ),
)
