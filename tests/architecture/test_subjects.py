"""What developers look for has one place, and the list of places is current."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINES = Path(__file__).with_name("subjects.txt").read_text().splitlines()
SUBJECTS = [line.split(" | ") for line in LINES if not line.startswith("#")]


@pytest.mark.parametrize(("subject", "path"), SUBJECTS)
def test_place_of_a_subject_exists(subject, path):
    assert (ROOT / path).exists(), subject


def test_each_subject_is_listed_once():
    assert len({subject for subject, _ in SUBJECTS}) == len(SUBJECTS) >= 45
