"""What readers copy from the docs and the example: lines of settings that lose no other key, and
forms that never put a password into the address."""

import ast
import re

import pytest

from tests.hosts.runs import ROOT
from tests.snippets.blocks import all_pages, everything

FOLDERS = ("docs", "example_project", "authservice")
KINDS = (".html", ".rst", ".md", ".tsx", ".jsx", ".ts", ".js", ".mjs", ".py", ".txt")
BUILT = {"node_modules", "dist", "_build", "__pycache__"}
FORM = re.compile(r"<form\b(?P<start>[^>]*)")
# The one dict of a project: pages that show all settings of a new project.
WHOLE = (
    "README.rst",
    "docs/coming_from/dj_rest_auth.rst",
    "docs/installing.rst",
    "docs/start.rst",
    "docs/views.rst",
)


def settings_of(block):
    """The assignments to `AUTHSERVICE` or a key of it."""
    for node in ast.parse(block.code).body:
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            root = target
            while isinstance(root, ast.Subscript):
                root = root.value
            if isinstance(root, ast.Name) and root.id == "AUTHSERVICE":
                yield node, target


def is_safe(page, node, target):
    """A value of the dict, a section that keeps its other keys, or one provider by its name."""
    if isinstance(target, ast.Name):
        return page in WHOLE and isinstance(node, ast.Assign)
    if ast.unparse(target).startswith("AUTHSERVICE['OAUTH']['PROVIDERS']["):
        return True
    if not isinstance(node.value, ast.Dict | ast.BinOp):
        return isinstance(node, ast.Assign)
    name = ast.unparse(target.slice)
    return ast.unparse(node).startswith(f"AUTHSERVICE[{name}] = AUTHSERVICE.get({name}, {{}}) | ")


SETTINGS = [
    pytest.param(block.page, node, target, id=f"{block.place}+{node.lineno - 1}")
    for block in everything()
    if block.language == "python"
    for node, target in settings_of(block)
]


def test_docs_show_settings():
    assert len(SETTINGS) > 40


@pytest.mark.parametrize(("page", "node", "target"), SETTINGS)
def test_line_of_settings_keeps_other_keys(page, node, target):
    assert is_safe(page, node, target), ast.unparse(node)


@pytest.mark.parametrize("page", all_pages())
def test_text_advises_no_line_that_replaces_a_section(page):
    if page.endswith("modules.rst"):  # says what such a line does
        return
    text = (ROOT / page).read_text()

    assert not re.search(r'``[^`\n]*AUTHSERVICE\["[A-Z_]+"\](\["\w+"\])? \|?= ', text)


def pages_with_forms():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in KINDS and not BUILT.intersection(path.parts):
                text = path.read_text()
                if FORM.search(text):
                    yield pytest.param(text, id=str(path.relative_to(ROOT)))


@pytest.mark.parametrize("text", list(pages_with_forms()))
def test_forms_post_so_that_no_password_gets_into_the_address(text):
    """A browser sends a form itself if its script does not load."""
    for form in FORM.finditer(text):
        assert re.search(r"""\bmethod=["']?post\b""", form["start"]), form[0]
