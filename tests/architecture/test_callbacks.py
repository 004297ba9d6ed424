"""What runs after a commit has a name: before Django 6.1 the log entry of a robust callback that
fails needs one, and without it the error of the log fails the request of the user."""

import ast

from tests.support import sources


def robust_callbacks(tree):
    """The first argument of each `on_commit(…, robust=True)`."""
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or getattr(call.func, "attr", "") != "on_commit":
            continue
        if any(keyword.arg == "robust" for keyword in call.keywords):
            yield call.args[0]


def nameless(path):
    tree = sources.parsed(path)
    functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for callback in robust_callbacks(tree):
        if not isinstance(callback, ast.Name) or callback.id not in functions:
            yield f"{path.relative_to(sources.TREE)}:{callback.lineno}"


def test_robust_callbacks_are_functions():
    files = sources.paths()

    assert sum(len(list(robust_callbacks(sources.parsed(file)))) for file in files) >= 3
    assert [place for file in files for place in nameless(file)] == []
