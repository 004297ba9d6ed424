"""Each mutation still applies to the tree: who rewrites such a line rewrites its mutation."""

from collections import Counter

import pytest

from tests.mutations.table import MUTATIONS
from tests.mutations.turns import ROOT, mutated


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_it_applies(mutation):
    sound = (ROOT / mutation.file).read_text()
    broken = mutated(sound, mutation)

    compile(broken, mutation.file, "exec")
    assert broken != sound


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_the_tests_that_are_to_see_it_are_there(mutation):
    files = [given for given in mutation.tests if not given.startswith("-")]

    assert files
    assert [file for file in files if not (ROOT / file.partition("::")[0]).exists()] == []


def test_no_two_have_the_same_name():
    assert [name for name, count in Counter(m.name for m in MUTATIONS).items() if count > 1] == []
