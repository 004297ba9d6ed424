"""Users from before the service was installed: which of their addresses and factors count."""

from __future__ import annotations

from tests.mutations.kinds import CORE, Mutation, to

_PROOFS = CORE + "recovery/earlier_proofs.py"
_CHOSEN = CORE + "recovery/chosen_proofs.py"
_SYNC = ("tests/commands/test_sync_verified.py", "tests/commands/test_sync_verified_all.py")
_ADDRESSES = ("--ds=tests.coming_from.settings", "tests/coming_from/inside/test_addresses.py")

OLD_USERS = (
    Mutation(
        "The comparison of a proven address with the current one",
        _PROOFS,
        to("if not current or one.key != claim or", "if not current or"),
        _SYNC,
    ),
    Mutation(
        "The proof of a shared address by one user only",
        _PROOFS,
        to("if len(found) == 1]", "]"),
        _SYNC,
    ),
    Mutation(
        "The mark of staff that an import must not undo",
        _PROOFS,
        to("        return PRESENT  #", "        pass  #"),
        _ADDRESSES,
    ),
    Mutation(
        "The flag of an address that the package has not verified",
        CORE + "importing/address_tables.py",
        to('"" if row.verified else UNVERIFIED', '""'),
        _ADDRESSES,
    ),
    Mutation(
        "The sign-ups here that are no users of djoser",
        CORE + "importing/address_tables.py",
        to("            reason = LATER\n", "            pass\n"),
        _ADDRESSES,
    ),
    Mutation(
        "The sign-ups that `--verified all` leaves out",
        _CHOSEN,
        to('rows.filter(**{f"{joined}__lt": before}),\n        _own', "rows,\n        _own"),
        _SYNC,
    ),
    Mutation(
        "The accounts with another verified address that `--verified all` leaves out",
        _CHOSEN,
        to("rows = _rows().filter(~Exists(known))", "rows = _rows()"),
        _SYNC,
    ),
    Mutation(
        "The users of a batch that a function may name",
        _CHOSEN,
        to("if one.user in known]", "]"),
        _SYNC,
    ),
)
