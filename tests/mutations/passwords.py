"""The rules of passwords, and the check of an old one at a login."""

from __future__ import annotations

from tests.mutations.kinds import CORE, Mutation, to, without

_BREACHED, _RECHECK = "tests/passwords/test_breached.py", "tests/passwords/test_recheck.py"
_LIST, _AGAIN = CORE + "credentials/password_rules.py", CORE + "login/password_recheck.py"

PASSWORDS = (
    Mutation(
        "The five characters of a digest that leave the machine",
        _LIST,
        to('f"{url}{start}"', 'f"{url}{digest}"'),
        (f"{_BREACHED}::test_server_gets_five_characters_of_the_digest_and_nothing_else",),
    ),
    Mutation(
        "The padding in a list of breached passwords",
        _LIST,
        to('bool(entry[1].strip(b"0"))', "True"),
        (f"{_BREACHED}::test_padding_is_no_breach",),
    ),
    Mutation(
        "The open circuit after a failure of the list",
        _LIST,
        to("            if not self._failing:\n", "            if True:\n"),
        (f"{_BREACHED}::test_failing_server_delays_one_sign_up_and_refuses_none",),
    ),
    Mutation(
        "The refusal of a response that is no list of breached passwords",
        _LIST,
        to("        if not _ANSWER.fullmatch(endings):\n", "        if False:\n"),
        (f"{_BREACHED}::test_failing_server_delays_one_sign_up_and_refuses_none",),
    ),
    Mutation(
        "The length of a filter file",
        CORE + "credentials/password_filter.py",
        to(" or len(mapped) != _HEADER.size + ceil(size / 8)", ""),
        ("tests/passwords/test_filter.py::test_bad_file_is_reported_and_refuses_no_sign_up",),
    ),
    Mutation(
        "The rules of a login before its password is checked again",
        CORE + "login/login.py",
        without('            check_may_log_in(accepted, client, method="password")\n'),
        (f"{_RECHECK}::test_user_who_may_not_log_in_is_not_checked",),
    ),
    Mutation(
        "The one notice of an unsafe password",
        _AGAIN,
        without("        _store(person, rule, _NOTIFIED_FOR)\n"),
        (f"{_RECHECK}::test_owner_of_a_breached_password_is_notified_once",),
    ),
    Mutation(
        "The refusal of a login with an unsafe password",
        _AGAIN,
        without("        raise errors.PasswordChangeRequired\n"),
        (f"{_RECHECK}::test_breached_password_is_refused_at_every_login",),
    ),
    Mutation(
        "The proven address of a notice of an unsafe password",
        _AGAIN,
        to("if notify and person.email_proven:", "if notify:"),
        (f"{_RECHECK}::test_address_that_was_not_proven_gets_no_notice",),
    ),
)
