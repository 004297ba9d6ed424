"""Ids of system checks are public: each has one meaning."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import authservice

ROOT = Path(authservice.__file__).parent
ID = re.compile(r"(?:authservice\.)?([EWI][0-9]{3})")


def uses():
    """Each id with the functions that name it."""
    found = defaultdict(set)
    for path in ROOT.rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.FunctionDef):
                for node in ast.walk(function):
                    text = node.value if isinstance(node, ast.Constant) else None
                    if isinstance(text, str) and (named := ID.fullmatch(text)):
                        found[named.group(1)].add(f"{path.relative_to(ROOT)}:{function.name}")
    return found


def test_check_id_is_used_by_one_function():
    shared = {name: places for name, places in uses().items() if len(places) > 1}

    assert uses()
    assert shared == {}
