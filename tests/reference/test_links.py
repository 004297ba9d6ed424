"""Links and names of files in the docs and the README lead somewhere. No test uses the network."""

import ast
import posixpath
import re
from functools import cache
from urllib.parse import urlsplit

import pytest

from tests.hosts.runs import ROOT
from tests.reference import pages

WRITTEN = [
    "README.rst",
    "docs/README.rst",
    *(f"docs/{name}.rst" for name in pages.names()),
    *(str(path.relative_to(ROOT)) for path in (ROOT / ".github").rglob("*.md")),
]
ANCHOR = re.compile(r"^\.\. _([\w-]+):$", re.MULTILINE)
ROLE = re.compile(r":(doc|ref):`(?:[^`<]*<)?([^`>]+)>?`")
LINK = re.compile(r"`[^`<]*<([^`>]+)>`_|\]\(([^)\s]+)\)|^\.\. _[^:\n]+: (\S+)$", re.MULTILINE)
FILE = re.compile(
    r"``((?:authservice|docs|tests|example_project|\.ci|\.github)/[\w./-]*\w(?:\.\w+)?)(?:::?.*?)?``"
)
TEST = re.compile(r"``([\w/]+/test_\w+\.py)::(\w+)``")
# Files of a project that uses the package, by paths that look like ours.
OF_PROJECTS = {"authservice/notification", "authservice/pages", "authservice/magiclink"}
# Folders that the example project creates.
CREATED = {"example_project/mailbox"}
LOCAL = {"localhost", "127.0.0.1"}


def read(path):
    return (ROOT / path).read_text()


@cache
def anchors():
    return {one.lower() for name in pages.names() for one in ANCHOR.findall(pages.text(name))}


@cache
def defined_tests(path):
    tree = ast.walk(ast.parse(read(path)))
    return {node.name for node in tree if isinstance(node, ast.FunctionDef)}


def links(path):
    """The targets of links in a page."""
    for found in LINK.findall(read(path)):
        target = "".join(found).replace("\n", "")
        if not target.endswith("_"):  # an entry of the same page, which docutils checks
            yield target


@pytest.mark.parametrize("path", [path for path in WRITTEN if path.startswith("docs/")])
def test_roles_name_pages_and_anchors(path):
    folder = posixpath.dirname(path.removeprefix("docs/"))
    for role, target in ROLE.findall(read(path)):
        name = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
        known = name in pages.names() if role == "doc" else target.lower() in anchors()
        assert known, f"{role}: {target}"


@pytest.mark.parametrize("path", WRITTEN)
def test_links_are_well_formed_or_name_files(path):
    for target in links(path):
        parts = urlsplit(target)
        if parts.scheme:
            assert parts.scheme == "https" or parts.hostname in LOCAL, target
            assert re.fullmatch(r"[\w.-]+\.\w+", parts.hostname) or parts.hostname in LOCAL, target
            assert not re.search(r"\s", target), target
        elif parts.path:
            assert (ROOT / path).parent.joinpath(parts.path).exists(), target


@pytest.mark.parametrize("path", WRITTEN)
def test_named_files_exist(path):
    named = {name for name in FILE.findall(read(path)) if not _of_project(name)} - CREATED

    assert [name for name in named if not (ROOT / name.rstrip("/")).exists()] == []


def _of_project(name):
    return any(name.startswith(f"{folder}/") for folder in OF_PROJECTS) and not name.endswith(".py")


def test_promises_name_tests_that_exist():
    promises = TEST.findall(pages.text("security"))

    assert len(promises) > 25
    for file, name in promises:
        assert name in defined_tests(f"tests/{file}"), name


# A link that code hosts show too.
PAGE = re.compile(r"<[\w/]+\.rst(#[\w-]+)?>`__")


def test_questions_have_an_answer_with_a_link_and_a_thread():
    parts = re.split(r"^(.+)\n~+\n", pages.text("questions"), flags=re.MULTILINE)[1:]
    answers = dict(zip(parts[::2], parts[1::2], strict=True))
    thread = re.compile(r"<https://github\.com/[\w.-]+/[\w.-]+/(issues|pull)/\d+>`__\)")

    assert len(answers) >= 50
    for question, answer in answers.items():
        assert question.endswith("?"), question
        assert ROLE.search(answer) or PAGE.search(answer), question
        assert thread.search(answer), question


def test_reference_is_linked_by_its_anchors():
    assert {"error-user-not-active", "command-authservice-keys"} <= anchors()
