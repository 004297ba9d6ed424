"""Ids of system checks are public: each has one entry in the list, and one function reports it."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

import authservice
from authservice.kernel import (
    checks,
    checks_core,
    checks_front_end,
    checks_invitations,
    checks_modules,
    checks_providers,
)

ROOT = Path(authservice.__file__).parent
LISTS = (checks_core, checks_front_end, checks_modules, checks_invitations, checks_providers)
ID = re.compile(r"authservice\.[EWI][0-9]{3}")


def uses():
    """Each id with the functions that name it, outside of the list."""
    found = defaultdict(set)
    for path in ROOT.rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.FunctionDef):
                for node in ast.walk(function):
                    text = node.value if isinstance(node, ast.Constant) else None
                    if isinstance(text, str) and ID.fullmatch(text):
                        found[text].add(f"{path.relative_to(ROOT)}:{function.name}")
    return found


def listed():
    """Every key of the lists as written, so that a key that is there twice shows."""
    for module in LISTS:
        for node in ast.walk(ast.parse(Path(module.__file__).read_text())):
            if isinstance(node, ast.Dict):
                yield from (key.value for key in node.keys)


def test_check_id_is_used_by_one_function():
    shared = {name: places for name, places in uses().items() if len(places) > 1}

    assert shared == {}


def test_check_ids_in_use_are_those_of_the_list():
    assert len(uses()) > 60
    assert sorted(uses()) == sorted(listed())


@pytest.mark.parametrize("name", sorted(name for each in LISTS for name in each.CHECKS))
def test_check_has_sentences_for_cause_and_remedy(name):
    check = checks.CHECKS[name]

    assert check.cause.endswith(".")
    assert check.remedy.endswith((".", "'"))


def test_app_of_a_project_adds_a_check_without_a_change_here(monkeypatch):
    monkeypatch.setattr(checks, "CHECKS", dict(checks.CHECKS))

    checks.declare({"shop.W001": ("SHOP_ID is not set.", "Set SHOP_ID.")})
    found = checks.message("shop.W001", "SHOP_ID is ''.")

    assert (found.id, found.msg, found.hint) == ("shop.W001", "SHOP_ID is ''.", "Set SHOP_ID.")
    assert found.level == 30


@pytest.mark.parametrize("name", ["authservice.E001", "shop.X001", "E001"])
def test_id_that_is_taken_or_malformed_is_refused(monkeypatch, name):
    monkeypatch.setattr(checks, "CHECKS", dict(checks.CHECKS))

    with pytest.raises(ValueError, match=name):
        checks.declare({name: ("Something else.", "Change it.")})


def test_message_without_an_entry_is_refused():
    with pytest.raises(KeyError):
        checks.message("authservice.E999")
