"""What users do with their own account: the proof of the owner."""

from __future__ import annotations

from tests.mutations.kinds import CORE, Mutation, to, without

_PROOF = "tests/core/own_account/test_owner_proof.py"

OWN_ACCOUNT = (
    Mutation(
        "The password that a user who has one must send",
        CORE + "recovery/recent_proof.py",
        to("if person.user.has_usable_password() or not is_recent", "if not is_recent"),
        (f"{_PROOF}::test_password_is_required_even_in_a_recent_session",),
    ),
    Mutation(
        "The code beside the password of the owner",
        CORE + "recovery/recent_proof.py",
        to("            factor.verify(person, proof.code, client)\n", "            pass\n"),
        (f"{_PROOF}::test_wrong_codes_are_refused_after_ten_attempts_as_throttled",),
    ),
    Mutation(
        "The age of a session that was traded for a token of another package",
        CORE + "recovery/recent_proof.py",
        without(".exclude(amr=LEGACY)"),
        (f"{_PROOF}::test_session_traded_for_a_token_of_another_package_is_never_recent",),
    ),
    Mutation(
        "The second look at the password of the owner, under the lock",
        CORE + "recovery/recent_proof.py",
        to("if present.password != checked.user.password:", "if False:"),
        (f"{_PROOF}::test_password_that_changes_after_its_check_is_refused",),
    ),
    Mutation(
        "The count of refusals that say that an identifier is taken",
        CORE + "users/identifier_change.py",
        without('    throttling.count("is-available", client.network)\n'),
        ("tests/core/own_account/test_change_username.py",),
    ),
)
