"""The page "What is public": its names can be imported, and the docs use no others."""

import json
import re
from pathlib import Path

import pytest

from authservice import signals
from tests.hosts.runs import python
from tests.hosts.shipped import everything, shipped
from tests.support import declared

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/public.rst").read_text()
READ_BY_HOSTS = [
    ROOT / "README.rst",
    *sorted((ROOT / "docs").glob("*.rst")),
    *sorted((ROOT / "example_project").rglob("*.py")),
]
IMPORT = re.compile(r"from (authservice(?:\.[\w.]+)?) import ([\w, ]+)")
# The value of a setting, or the argument of `include()`.
DOTTED = re.compile(r"[\"'](authservice(?:\.\w+)*)\.(\w+)[\"']")

# A project that has nothing but what the names need, and prints which of them are missing.
PLAIN_HOST = """
import json, sys
from importlib import import_module
import django
from django.conf import settings
settings.configure(
    SECRET_KEY="a secret of the tests, long enough to be a key",
    INSTALLED_APPS=[
        "django.contrib.admin", "django.contrib.auth", "django.contrib.contenttypes",
        "django.contrib.messages", "django.contrib.sessions", "rest_framework", *{apps},
    ],
)
django.setup()
missing = []
for module, name in {names}:
    try:
        found = import_module(module)
        name and getattr(found, name)
    except (AttributeError, ImportError) as wrong:
        missing.append(str(wrong))
print(json.dumps(missing))
"""


def imports_on_page():
    """Each (module, name) of the table; the name is "" where only the module is public."""
    table = PAGE.split("Names to import\n")[1].split("\nSignals\n")[0]
    for row in re.split(r"\n   \* - ", table)[2:]:
        module, names, _ = (re.findall(r"``([\w.]+)``", cell) for cell in row.split("\n     - "))
        yield from ((module[0], name) for name in names or [""])


PUBLIC = sorted(imports_on_page())


def imports_in(path):
    """What a file that projects copy from imports from this package."""
    text = path.read_text()
    for module, names in IMPORT.findall(text):
        yield from ((module, name.strip()) for name in names.split(","))
    for module, name in DOTTED.findall(text):
        if name in ("urls", "root_urls"):
            yield f"{module}.{name}", ""
        elif module != "authservice":
            yield module, name


def test_public_names_can_be_imported_in_a_plain_project():
    run = python("-c", PLAIN_HOST.format(apps=everything(), names=PUBLIC))

    assert run.returncode == 0, run.stdout
    assert len(PUBLIC) > 30
    assert json.loads(run.stdout.splitlines()[-1]) == []


@pytest.mark.parametrize("path", READ_BY_HOSTS, ids=lambda path: path.name)
def test_projects_are_told_to_import_public_names_only(path):
    assert sorted(set(imports_in(path)) - set(PUBLIC)) == []


def test_page_lists_every_app():
    apps = PAGE.split("\nApps\n")[1].split("\nNames to import\n")[0]

    assert set(re.findall(r"``authservice\.([\w.]+)``", apps)) == {"core", *shipped()}


def test_page_lists_every_signal():
    listed = {name for module, name in PUBLIC if module == "authservice.signals"}
    sent = [action.signal for action in declared.actions().values() if action.signal]

    assert listed == {name for name, value in vars(signals).items() if value in sent}
    assert len(listed) == len(sent)
