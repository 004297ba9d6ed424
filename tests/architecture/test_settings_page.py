"""The settings page is generated from every file that declares settings."""

import ast
import runpy
from pathlib import Path

import authservice

TREE = Path(authservice.__file__).parent
DECLARING = runpy.run_path(str(TREE.parent / "docs/_ext/reference.py"))["DECLARING"]


def declares_settings(path):
    """Whether a file calls `section("NAME", Schema)` of `kernel/settings.py`."""
    calls = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
    return any(ast.unparse(call.func) in ("section", "settings.section") for call in calls)


def test_settings_page_reads_every_file_that_declares_settings():
    found = {path.stem for path in TREE.rglob("*.py") if declares_settings(path)}

    assert found == set(DECLARING)
