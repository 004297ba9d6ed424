"""The import of links from other packages: what keeps a foreign identity out of an account."""

from __future__ import annotations

from tests.mutations.kinds import CORE, Mutation, to

_IMPORTING = "authservice/oauth/importing/"
_OWNERS = CORE + "importing/package_tables.py"
_SETTINGS = "--ds=tests.oauth.importing.settings"
_SUBJECTS = (_SETTINGS, "tests/oauth/importing/test_subjects.py")
_LINKS = (_SETTINGS, "tests/oauth/importing/test_import.py")
_REPEATED = (_SETTINGS, "tests/oauth/importing/test_repeated.py")

IMPORTING = (
    Mutation(
        "The server that issued an imported identifier",
        _IMPORTING + "package_links.py",
        to("if used and set(used) != {expected}:", "if False:"),
        _SUBJECTS,
    ),
    Mutation(
        "The form of an imported identifier",
        _IMPORTING + "package_links.py",
        to("if not re.fullmatch(rule.pattern, subject):", "if False:"),
        _SUBJECTS,
    ),
    Mutation(
        "The member of the profile that an imported identifier was",
        _IMPORTING + "package_links.py",
        to("if row.claim and rule.claims and row.claim not in rule.claims:", "if False:"),
        _SUBJECTS,
    ),
    Mutation(
        "The kind of the app of an imported link",
        _IMPORTING + "package_links.py",
        to("if problem := self.package.problem(source_name):", "if problem := '':"),
        _SUBJECTS,
    ),
    Mutation(
        "The confirmation that an own provider has the same users",
        _IMPORTING + "package_links.py",
        to("if not mapped and (is_of_project or self.package.is_own(source_name)):", "if False:"),
        _SUBJECTS,
    ),
    Mutation(
        "The proof that is newer than an imported link",
        _OWNERS,
        to("return PROVEN if core.wipe_unproven and earlier", "return PROVEN if False"),
        _LINKS,
    ),
    Mutation(
        "The removal that an import must not undo",
        _IMPORTING + "sources.py",
        to("return REMOVED_HERE if", "return '' if"),
        _REPEATED,
    ),
    Mutation(
        "The removal since an earlier import",
        _IMPORTING + "sources.py",
        to("            return package_tables.REMOVED\n", "            pass\n"),
        _REPEATED,
    ),
    Mutation(
        "The distrust of an imported link in recoveries",
        _IMPORTING + "sources.py",
        to("at_signup=False", "at_signup=True"),
        _LINKS,
    ),
    Mutation(
        "The time of an imported link in recoveries",
        _IMPORTING + "sources.py",
        to("min(row.added_at, clock.now())", "clock.now()"),
        _LINKS,
    ),
    Mutation(
        "The lock of users whose links are imported",
        _OWNERS,
        to("            passwords.lock_users(keys)\n", "            pass\n"),
        (_SETTINGS, "tests/oauth/importing/races"),
        database="postgres",
    ),
)
