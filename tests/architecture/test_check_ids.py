"""Ids of system checks are public: each is declared once, in the file of the function that reports
it."""

import ast
import re
from collections import Counter, defaultdict
from functools import cache

import pytest

from authservice.kernel import checks
from tests.support import declared, sources

ID = re.compile(r"authservice\.[EWI][0-9]{3}")
DECLARED = list(declared.checks())


@cache
def uses():
    """Each id with the file and the name of the functions that name it."""
    found = defaultdict(set)
    for path in sources.paths():
        for function in ast.walk(sources.parsed(path)):
            if isinstance(function, ast.FunctionDef):
                for node in ast.walk(function):
                    text = node.value if isinstance(node, ast.Constant) else None
                    if isinstance(text, str) and ID.fullmatch(text):
                        found[text].add((path, function.name))
    return found


def test_check_id_is_used_by_one_function():
    shared = {name: places for name, places in uses().items() if len(places) > 1}

    assert shared == {}


def test_check_is_declared_once_in_the_file_that_reports_it():
    used = Counter((path, name) for name, places in uses().items() for path, _ in places)

    assert len(used) > 60
    assert Counter((path, name) for path, name, _ in DECLARED) == used


def test_list_has_the_checks_of_installed_apps():
    texts = {name: text for _, name, text in DECLARED}
    listed = {name: (check.cause, check.remedy) for name, check in checks.CHECKS.items()}

    assert {name: texts[name] for name in listed} == listed
    assert "authservice.E001" in listed


@pytest.mark.parametrize(("name", "text"), [(name, text) for _, name, text in DECLARED])
def test_check_has_sentences_for_cause_and_remedy(name, text):
    cause, remedy = text

    assert cause.endswith(".")
    assert remedy.endswith((".", "'"))


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
