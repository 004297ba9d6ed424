"""Each mutation applies to the tree: a change of such a line requires a change of its mutation."""

import ast
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


def names_tests_that_run(mutation):
    """Whether each file has the named test, and whether the row says so if that one is slow."""
    named = [given.partition("::") for given in mutation.tests if not given.startswith("-")]
    is_slow = any(given.startswith("-m") and "slow" in given for given in mutation.tests)
    return bool(named) and all(
        (ROOT / file).exists() and (not names or runs(ROOT / file, names, is_slow))
        for file, _, names in named
    )


def runs(file, names, is_slow):
    body = ast.parse(file.read_text()).body
    marks = []
    for name in names.partition("[")[0].split("::"):
        found = [node for node in body if getattr(node, "name", "") == name]
        if not found:
            return False
        marks += [ast.unparse(mark) for mark in found[-1].decorator_list]
        body = found[-1].body
    return ("pytest.mark.slow" in marks) <= is_slow


def test_mutations_apply_to_the_tree():
    problems = {mutation.name: problem(mutation) for mutation in MUTATIONS}

    assert {name: why for name, why in problems.items() if why} == {}


def test_mutations_name_tests_that_run():
    assert [mutation.name for mutation in MUTATIONS if not names_tests_that_run(mutation)] == []


def test_mutation_names_are_unique():
    assert [name for name, count in Counter(m.name for m in MUTATIONS).items() if count > 1] == []


def test_page_lists_each_mutation_once():
    page = (ROOT / "docs/mutations.rst").read_text()
    listed = re.findall(r"^   \* - (.+)\n     - ``(.+)``$", page, re.MULTILINE)

    assert listed == [(m.lost, m.file.removeprefix("authservice/")) for m in MUTATIONS]
