"""Each mutation applies to the tree: a change of such a line requires a change of its mutation."""

import re
from collections import Counter

import pytest

from tests.mutations.table import MUTATIONS
from tests.mutations.turns import ROOT, mutated


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_mutation_applies_to_the_tree(mutation):
    sound = (ROOT / mutation.file).read_text()
    broken = mutated(sound, mutation)

    compile(broken, mutation.file, "exec")
    assert broken != sound


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_mutation_names_existing_tests(mutation):
    files = [given for given in mutation.tests if not given.startswith("-")]

    assert files
    assert [file for file in files if not (ROOT / file.partition("::")[0]).exists()] == []


def test_mutation_names_are_unique():
    assert [name for name, count in Counter(m.name for m in MUTATIONS).items() if count > 1] == []


def test_page_lists_each_mutation_once():
    page = (ROOT / "docs/mutations.rst").read_text()
    listed = re.findall(r"^   \* - (.+)\n     - ``(.+)``$", page, re.MULTILINE)

    assert listed == [(m.lost, m.file.removeprefix("authservice/")) for m in MUTATIONS]
