"""A module of a project has what those of the package have, and leaves no trace where it is not."""

import subprocess
from pathlib import Path

import pytest

from tests.hosts.runs import ROOT, holds, python

HERE = Path(__file__).parent
TRACES = """
import sys, django
django.setup()
from django.urls import get_resolver
get_resolver().url_patterns[0].url_patterns
print([name for name in sys.modules if "toy_module" in name])
"""


@pytest.mark.once
def test_module_has_what_the_others_have():
    holds("--ds=tests.toy_module.settings", str(HERE / "inside"))


@pytest.mark.once
def test_module_that_is_not_installed_leaves_no_trace():
    run = python("-c", TRACES, DJANGO_SETTINGS_MODULE="tests.settings")

    assert run.stdout.splitlines() == ["[]"]


@pytest.mark.once
def test_no_file_of_the_package_names_the_module():
    found = subprocess.run(
        ["grep", "-rlis", "bookmark", "authservice", "pyproject.toml"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert found.stdout == ""
