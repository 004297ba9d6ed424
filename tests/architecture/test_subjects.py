"""What developers look for has one place, and the list of places is current."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINES = Path(__file__).with_name("subjects.txt").read_text().splitlines()
SUBJECTS = [line.split(" | ") for line in LINES if not line.startswith("#")]


def defined_in(path):
    """The names of the functions, classes and variables that the file defines, or the folder."""
    for file in sorted(path.glob("*.py")) if path.is_dir() else [path]:
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                yield node.name
            elif isinstance(node, ast.Assign):
                yield from (target.id for target in node.targets if isinstance(target, ast.Name))


@pytest.mark.parametrize(("subject", "path", "rule"), SUBJECTS)
def test_rule_of_a_subject_is_in_its_place(subject, path, rule):
    assert rule in set(defined_in(ROOT / path)), subject


def test_each_subject_is_listed_once():
    assert len({subject for subject, *_ in SUBJECTS}) == len(SUBJECTS) >= 60
