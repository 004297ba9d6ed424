"""Each mutation applies to the tree: a change of such a line requires a change of its mutation."""

import re
from collections import Counter

from tests.mutations.table import MUTATIONS
from tests.mutations.turns import ROOT, Stale, mutated


def problem(mutation):
    """Why the mutation cannot be applied to the tree; empty if it can."""
    try:
        sound = (ROOT / mutation.file).read_text()
        broken = mutated(sound, mutation)
        compile(broken, mutation.file, "exec")
    except (OSError, Stale, SyntaxError) as error:
        return repr(error)
    return "It changes nothing" if broken == sound else ""


def names_existing_tests(mutation):
    files = [given.partition("::")[0] for given in mutation.tests if not given.startswith("-")]
    return bool(files) and all((ROOT / file).exists() for file in files)


def test_mutations_apply_to_the_tree():
    problems = {mutation.name: problem(mutation) for mutation in MUTATIONS}

    assert {name: why for name, why in problems.items() if why} == {}


def test_mutations_name_existing_tests():
    assert [mutation.name for mutation in MUTATIONS if not names_existing_tests(mutation)] == []


def test_mutation_names_are_unique():
    assert [name for name, count in Counter(m.name for m in MUTATIONS).items() if count > 1] == []


def test_page_lists_each_mutation_once():
    page = (ROOT / "docs/mutations.rst").read_text()
    listed = re.findall(r"^   \* - (.+)\n     - ``(.+)``$", page, re.MULTILINE)

    assert listed == [(m.lost, m.file.removeprefix("authservice/")) for m in MUTATIONS]
