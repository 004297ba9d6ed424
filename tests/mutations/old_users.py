"""Users from before the service was installed: which of their addresses and factors count."""

from __future__ import annotations

from tests.mutations.kinds import CORE, Mutation, to

_PROOFS = CORE + "recovery/earlier_proofs.py"
_CHOSEN = CORE + "recovery/earlier_proofs.py"
_DRY_RUN = ("tests/commands/test_sync_dry_run.py",)
_SYNC = ("tests/commands/test_sync_verified.py", "tests/commands/test_sync_verified_all.py")
_ADDRESSES = ("--ds=tests.coming_from.settings", "tests/coming_from/inside/test_addresses.py")

OLD_USERS = (
    Mutation(
        "The comparison of a proven address with the current one",
        _PROOFS,
        to("if not current or item.key != claim or", "if not current or"),
        _SYNC,
    ),
    Mutation(
        "The proof of a shared address by one user only",
        _PROOFS,
        to("if len(group) == 1]", "]"),
        _SYNC,
    ),
    Mutation(
        "The address that was changed before a shared one is assigned",
        _PROOFS,
        to(" and results[item] == SHARED]", "]"),
        _ADDRESSES,
    ),
    Mutation(
        "The address that users of djoser change without verifying it",
        CORE + "importing/sources.py",
        to("if host().natural == host().email:", "if False:"),
        _ADDRESSES,
    ),
    Mutation(
        "The mark of staff that an import must not undo",
        _PROOFS,
        to("        return PRESENT  #", "        pass  #"),
        _ADDRESSES,
    ),
    Mutation(
        "The flag of an address that the package has not verified",
        CORE + "importing/sources.py",
        to('"" if row.verified else UNVERIFIED', '""'),
        _ADDRESSES,
    ),
    Mutation(
        "The exclusion of sign-ups here from an import of djoser",
        CORE + "importing/sources.py",
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
        to("rows = _rows().filter(~Exists(verified))", "rows = _rows()"),
        _SYNC,
    ),
    Mutation(
        "The users of a batch that a function may name",
        _CHOSEN,
        to(" if item.user in unproven_keys", ""),
        _SYNC,
    ),
    Mutation(
        "The shared addresses that a dry run does not count as proven",
        CORE + "users/sync.py",
        to(
            "copied = copies(user)\n    _drop_contested",
            "copied = copies(user)\n    print",
        ),
        _DRY_RUN,
    ),
)

_FACTORS = ("--ds=tests.coming_from.settings", "tests/coming_from/inside/test_factors.py")
_DEVICES = ("--ds=tests.coming_from.settings", "tests/coming_from/inside/test_otp_devices.py")
_HOSTILE = ("--ds=tests.coming_from.settings", "tests/coming_from/inside/test_hostile_factors.py")
_IMPORTING = "authservice/twofactor/importing/"

IMPORTED_FACTORS = (
    Mutation(
        "The code that was used in the other package",
        _IMPORTING + "factors.py",
        to("last_step=factor.last_step,", "last_step=0,"),
        _FACTORS,
    ),
    Mutation(
        "The factor that was disabled since an import",
        _IMPORTING + "factors.py",
        to("elif factor.row in seen or doubt:", "elif doubt:"),
        _FACTORS,
    ),
    Mutation(
        "The factor that a user has here already",
        _IMPORTING + "factors.py",
        to("elif factor.user in enabled:", "elif False:"),
        _FACTORS,
    ),
    Mutation(
        "The owner of an imported factor",
        _IMPORTING + "factors.py",
        to("doubt = owners.doubt(factor.user, factor.added_at)", 'doubt = ""'),
        _FACTORS,
    ),
    Mutation(
        "The devices from before an imported factor",
        "authservice/twofactor/authenticators.py",
        to(
            "enabled_at=now,\n        last_used_at=last",
            "enabled_at=set_up_at,\n        last_used_at=last",
        ),
        _FACTORS,
    ),
    Mutation(
        "The shortest secret of an imported factor",
        _IMPORTING + "factors.py",
        to("if not _SHORTEST <= length <= _LONGEST:", "if not length <= _LONGEST:"),
        _HOSTILE,
    ),
    Mutation(
        "The parameters of an imported factor",
        _IMPORTING + "sources.py",
        to("    factors.check_parameters(digits=row.digits, period=row.step)\n", "    pass\n"),
        _DEVICES,
    ),
    Mutation(
        "The app that another one displaces only if that can be imported",
        _IMPORTING + "sources.py",
        to("            continue\n", "            pass\n"),
        _DEVICES,
    ),
    Mutation(
        "The app from before a proof, which displaces no later one",
        _IMPORTING + "factors.py",
        to(
            "return not replaced and not owners.doubt(factor.user, added_at)", "return not replaced"
        ),
        _DEVICES,
    ),
    Mutation(
        "The backup codes from before a proof, beside a later app",
        _IMPORTING + "factors.py",
        to("and owners.doubt(factor.user, factor.codes_added_at)", "and False"),
        _FACTORS,
    ),
    Mutation(
        "The second app of a user who has removed the first here",
        _IMPORTING + "factors.py",
        to("return not replaced and", "return row not in removed and"),
        _DEVICES,
    ),
    Mutation(
        "The device that was never confirmed",
        _IMPORTING + "sources.py",
        to("    if not row.confirmed:\n", "    if False:\n"),
        _DEVICES,
    ),
    Mutation(
        "The used recovery codes of an imported factor",
        _IMPORTING + "sources.py",
        to("if not used_mask >> index & 1]", "]"),
        _HOSTILE,
    ),
)
