"""What makes an invitation answer once, and only for the owner of the mailbox."""

from __future__ import annotations

from tests.mutations.kinds import CORE, Mutation, to, without

_TESTS = "tests/invitation/test_"
_INVITATIONS = CORE + "invitations/"
_MODULE = "authservice/invitation/"

INVITATIONS = (
    Mutation(
        "The one answer to an invitation",
        _INVITATIONS + "closing.py",
        to(
            "filter(status=Status.PENDING, expires_at__gt=clock.by_now())\n    unchanged",
            "filter(expires_at__gt=clock.by_now())\n    unchanged",
        ),
        (
            "tests/invitation/races/test_answers.py::test_user_with_an_account_accepts_concurrently_once",
        ),
        database="postgres",
    ),
    Mutation(
        "The end of the old link when an invitation is sent again",
        _INVITATIONS + "mailing.py",
        to('{"token_digest": None, "expires_at"', '{"expires_at"'),
        (f"{_TESTS}resend.py::test_resend_makes_a_new_link_and_ends_the_old_one",),
    ),
    Mutation(
        "The number of a mail in its job",
        _INVITATIONS + "mailing.py",
        without(", mail_number=message.details[_NUMBER]"),
        (f"{_TESTS}delivery.py::test_delayed_job_does_not_end_the_link_of_a_newer_mail",),
    ),
    Mutation(
        "The right to invite, when an invitation is accepted",
        _MODULE + "platform_invitations.py",
        to(
            "is None or not inviter.active or not may_invite(inviter)",
            "is None or not inviter.active",
        ),
        (f"{_TESTS}senders.py",),
    ),
    Mutation(
        "The right to invite, when an invitation is sent",
        _MODULE + "platform_invitations.py",
        to("    _require_may_invite(inviter)\n    key", "    key"),
        (f"{_TESTS}senders.py",),
    ),
    Mutation(
        "The end of unproven access by an accepted invitation",
        _INVITATIONS + "acceptance.py",
        to("owner = present if session else current.visitor", "owner = present"),
        (f"{_TESTS}accept_with_account.py::test_accept_removes_unproven_access_first",),
    ),
    Mutation(
        "The address of the account that accepts, under its lock",
        _INVITATIONS + "acceptance.py",
        to("if present.email_key != invitation.email_key:", "if False:"),
        (
            f"{_TESTS}accept_with_account.py"
            "::test_account_whose_address_changes_meanwhile_does_not_accept",
        ),
    ),
    Mutation(
        "The account whose session an accept may continue",
        _INVITATIONS + "acceptance.py",
        to("if caller and verification.is_same(present, caller.person):", "if caller:"),
        (f"{_TESTS}own_session.py::test_token_of_another_account_is_not_used",),
    ),
    Mutation(
        "The end of an invitation link that somebody kept, after a recovery",
        _INVITATIONS + "acceptance.py",
        to("closing.require_unchanged_recipient(invitation, present)", "pass"),
        (f"{_TESTS}recovery.py::test_link_mailed_before_a_recovery_does_not_sign_in",),
    ),
    Mutation(
        "The invitation link that the creator of an unproven account cannot end",
        _INVITATIONS + "closing.py",
        to("    if not proven:\n", "    if False:\n"),
        (f"{_TESTS}recovery.py::test_account_that_another_person_created_does_not_end_the_link",),
    ),
    Mutation(
        "The end of an invitation link that is older than the account, after a changed password",
        _INVITATIONS + "closing.py",
        to("changed = recipient.device_version > 0", "changed = False"),
        (f"{_TESTS}recovery.py::test_link_mailed_before_the_sign_up_ends_with_a_changed_password",),
    ),
    Mutation(
        "The end of invitations that an intruder sent",
        _INVITATIONS + "closing.py",
        without("                cancel(invitation, inviter=inviter)\n"),
        (f"{_TESTS}recovery.py::test_reset_cancels_what_was_sent_in_the_last_three_days",),
    ),
    Mutation(
        "The invitations of a suspended user",
        _MODULE + "platform_invitations.py",
        to("is None or not inviter.active or not may_invite", "is None or not may_invite"),
        (f"{_TESTS}answers.py::test_accept_is_refused_while_the_sender_is_suspended",),
    ),
    Mutation(
        "The sender who alone may cancel",
        _MODULE + "platform_invitations.py",
        to("if invitation.inviter_id != inviter.user.pk:", "if False:"),
        (f"{_TESTS}resend.py::test_invitation_of_another_user_is_forbidden",),
    ),
    Mutation(
        "The lock of an address while invitations are counted",
        _MODULE + "platform_invitations.py",
        without('    attempt_counter.lock(attempt_counter.key("invited", email_key))\n'),
        ("tests/invitation/races/test_sending.py",),
        database="postgres",
    ),
    Mutation(
        "The closed sign-up of unknown addresses",
        CORE + "users/creation.py",
        to("core.allow_signup or method == INVITATION", "True"),
        (f"{_TESTS}closed_signup.py",),
    ),
)
