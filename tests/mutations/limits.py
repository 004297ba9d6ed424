"""Limits of attempts, messages and work, and the secrets and texts of a request."""

from __future__ import annotations

from tests.mutations.kinds import CORE, HTTP, Mutation, to, without

_DAILY = "tests/core/test_daily_guesses.py"
_DEVICES = "tests/core/test_device_budgets.py"
_CODES = "tests/recovery/test_code_attempts.py"
_NETWORKS = "tests/core/test_shared_networks.py"
_MAILS = "tests/recovery/test_sending_limits.py"
_TEXTS = "tests/recovery/test_sending_texts.py"
_NEW_DEVICES = "tests/notification/test_new_devices.py"
_COUNTING = CORE + "messages/counting.py"

ATTEMPTS = (
    Mutation(
        "The attempts that an identifier takes in a day",
        CORE + "credentials/attempt_counter.py",
        without(", daily=50"),
        (f"{_DAILY}::test_identifier_takes_fifty_guesses_in_a_day_known_or_not",),
    ),
    Mutation(
        "The codes that a target takes in a day",
        CORE + "credentials/code_attempts.py",
        without(", daily=10"),
        (f"{_CODES}::test_strangers_have_ten_attempts_in_a_day_over_all_codes",),
    ),
    Mutation(
        "The count of a day, which a new code leaves",
        CORE + "credentials/attempt_counter.py",
        to("update(count=0, strikes=0)", "update(count=0, strikes=0, day_count=0)"),
        (f"{_CODES}::test_strangers_have_ten_attempts_in_a_day_over_all_codes",),
    ),
    Mutation(
        "The attempts that a known device has at a code",
        CORE + "credentials/code_attempts.py",
        to("    if device is not None:\n", "    if False:\n"),
        (f"{_CODES}::test_strangers_who_guess_do_not_end_the_code_of_a_known_device",),
    ),
    Mutation(
        "The attempts at a code that verifies a number, whatever the device",
        CORE + "credentials/code_attempts.py",
        to("    if not opens_account:\n", "    if not opens_account and device is None:\n"),
        (f"{_CODES}::test_code_that_verifies_a_number_has_five_attempts_for_all_devices_together",),
    ),
    Mutation(
        "The attempts that all devices of an account share",
        CORE + "credentials/lockout.py",
        to(
            "attempt_counter.consume(guess.beside, attempt_counter.ALL_DEVICES, report=report)",
            "pass",
        ),
        (f"{_DEVICES}::test_devices_of_an_account_share_a_hundred_attempts_a_day",),
    ),
    Mutation(
        "The newest devices, which alone have attempts of their own",
        CORE + "credentials/known_devices.py",
        without(" and found.device.hex in ids(person)"),
        (f"{_DEVICES}::test_newest_devices_have_attempts_of_their_own",),
    ),
    Mutation(
        "The end of device tokens by a changed password",
        CORE + "credentials/known_devices.py",
        without("found.version == person.device_version and "),
        (_DEVICES, "tests/core/test_devices.py"),
    ),
    Mutation(
        "The account whose devices share the general limit",
        HTTP + "client.py",
        to('f"account {token.user}"', 'f"account {token.device}"'),
        (f"{_NETWORKS}::test_general_limit_is_shared_by_the_devices_of_an_account",),
    ),
    Mutation(
        "The limit that others behind an address do not use up",
        HTTP + "client.py",
        to("token = device_token.read(_device_token(request))", "token = None"),
        (f"{_NETWORKS}::test_general_limit_counts_a_known_device_apart_from_its_network",),
    ),
)

MESSAGES = (
    Mutation(
        "The messages that one sender may request",
        _COUNTING,
        to("if not _take_all(_of_sender(subject, sender)):", "if False:"),
        (f"{_MAILS}::test_three_in_fifteen_minutes_and_no_more",),
    ),
    Mutation(
        "The mails that all unknown senders may request",
        _COUNTING,
        to("if _take_all([_of_everybody(subject, sender)]):", "if subject:"),
        (f"{_MAILS}::test_unknown_senders_together_have_thirty_mails_a_day_and_one_more",),
    ),
    Mutation(
        "The last mail of a day",
        _COUNTING,
        to("if sender.account is None and _take(limits.LAST_MAIL, subject):", "if False:"),
        (f"{_MAILS}::test_unknown_senders_together_have_thirty_mails_a_day_and_one_more",),
    ),
    Mutation(
        "The texts that one client causes",
        _COUNTING,
        without(", (limits.SENDER_TEXTS, sender.id)"),
        (f"{_TEXTS}::test_one_client_causes_ten_texts_an_hour_to_all_numbers",),
    ),
    Mutation(
        "The texts that the devices of one account cause",
        _COUNTING,
        without("        counted.append((limits.ACCOUNT_TEXTS, account.id))\n"),
        (f"{_TEXTS}::test_new_devices_of_one_account_share_thirty_texts_a_day",),
    ),
    Mutation(
        "The texts that the accounts of one client cause",
        _COUNTING,
        to("counted.append((limits.NETWORK_TEXTS, sender.network))", "pass"),
        (
            f"{_TEXTS}::test_accounts_of_one_client_share_thirty_texts_an_hour_to_unverified_numbers",
        ),
    ),
    Mutation(
        "The texts that are left for verified numbers",
        _COUNTING,
        to("policy.per_hour * 4 // 5", "policy.per_hour"),
        (f"{_TEXTS}::test_the_service_keeps_a_fifth_for_verified_numbers",),
    ),
    Mutation(
        "The notices that nobody requested",
        _COUNTING,
        to("if not _take(limits.UNREQUESTED, subject):", "if False:"),
        (f"{_NEW_DEVICES}::test_other_notices_are_ten_a_day_for_each_kind_and_address",),
    ),
    Mutation(
        "The session of an intruder, which makes no browser known",
        CORE + "messages/new_devices.py",
        without(" if _is_trusted(row)"),
        (f"{_NEW_DEVICES}::test_a_session_that_was_ended_for_safety_makes_no_browser_known",),
    ),
)

WORK = (
    Mutation(
        "The hashes that run at once",
        CORE + "credentials/hash_limit.py",
        to("return core.hashes_in_flight or", "return 64 or"),
        ("tests/core/test_hash_limit.py::test_hashes_at_once_are_bounded_by_the_setting",),
    ),
    Mutation(
        "The login that gets no slot, which is no attempt",
        CORE + "credentials/lockout.py",
        to("except (errors.ServiceUnavailable, DatabaseError):", "except DatabaseError:"),
        ("tests/core/test_hash_limit.py::test_login_without_a_turn_is_503_and_no_guess",),
    ),
    Mutation(
        "The pause after a cache failed",
        "authservice/kernel/throttling.py",
        to("        _breaker.open()\n", "        pass\n"),
        ("tests/kernel/test_flood_breaker.py",),
    ),
    Mutation(
        "The marks that follow each other in a text",
        HTTP + "bounds.py",
        to("if row > MARKS:", "if False:"),
        ("tests/contract/test_text_bounds.py::test_thirty_combining_marks_in_a_row_are_the_most",),
    ),
    Mutation(
        "The secret that prints as nothing",
        "authservice/kernel/secret.py",
        to('return "Secret(...)"', "return self.__text"),
        ("tests/kernel/test_secret.py",),
    ),
    Mutation(
        "The secret that nothing stores",
        "authservice/kernel/secret.py",
        to(
            'raise TypeError("A secret cannot be pickled or copied.")',
            "return (Secret, (self.__text,))",
        ),
        ("tests/kernel/test_secret.py",),
    ),
    Mutation(
        "The one spelling of a mailbox",
        CORE + "users/identifiers.py",
        without(" and '\"' not in local"),
        ("tests/core/test_email_syntax.py",),
    ),
    Mutation(
        "The one account of a sign-up that the worker makes",
        CORE + "login/pending_signups.py",
        to("rows.filter(spent_at=None).update", "rows.update"),
        ("tests/recovery/test_hidden_signup.py",),
    ),
    Mutation(
        "The entry of a refused reset",
        CORE + "recovery/password_reset.py",
        to("            _record_failure(owner, client, wrong)", "            pass"),
        ("--ds=tests.audit.settings", "tests/audit/inside/test_deeds.py", "-kreset-password"),
    ),
    Mutation(
        "The entry of a wrong password that a session sends",
        CORE + "recovery/recent_proof.py",
        without("        events.record(refused)\n"),
        ("--ds=tests.audit.settings", "tests/audit/inside/test_entries.py", "-knames_the_route"),
    ),
    Mutation(
        "The token of a mailed link, hidden in error reports",
        HTTP + "redaction.py",
        without('    request.META["QUERY_STRING"] = request.GET.urlencode(safe="[]")\n'),
        ("tests/abuse/test_reports.py",),
    ),
    Mutation(
        "The token in addresses that servers add, hidden in error reports",
        HTTP + "redaction.py",
        without("    request.META.update(_without_queries(request.META))\n"),
        ("tests/abuse/test_reports.py", "-kaddress_that_a_server"),
    ),
)

TEXTS = (
    Mutation(
        "The length of a text, judged before anything else",
        HTTP + "fields.py",
        to("                _require_bounded(field, value)\n", "                pass\n"),
        ("tests/contract/test_text_bounds.py::test_length_is_judged_before_normalisation",),
    ),
    Mutation(
        "The sign-up that tells nobody whether the address was taken",
        CORE + "login/signup.py",
        to('if core.signup_enumeration == "hide" and newcomer.email:', "if False:"),
        ("tests/recovery/test_hidden_signup.py",),
    ),
    Mutation(
        "The sealed row of a sign-up",
        CORE + "login/pending_signups.py",
        to("crypto.seal(_PURPOSE, json.dumps(", "str(json.dumps("),
        (
            "tests/recovery/test_hidden_signup.py::test_neither_job_nor_row_shows_what_was_asked_for",
        ),
    ),
    Mutation(
        "The last link of a day, which no later request ends",
        CORE + "credentials/one_time.py",
        to(
            "_with_code(purpose, target_key).update(spent_at=timezone.now())",
            "_unspent(purpose, target_key).update(spent_at=timezone.now())",
        ),
        ("tests/magiclink/test_day.py",),
    ),
)
