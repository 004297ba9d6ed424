"""The package reads the clock in one place, so that one request has one time."""

import ast

from tests.support.sources import TREE, parsed, paths

READERS = {
    "timezone": {"now", "localdate", "localtime"},
    "datetime": {"now", "utcnow", "today"},
    "date": {"today"},
    "time": {"time", "time_ns", "localtime", "gmtime", "ctime", "strftime"},
}
# Imported by these names, they would escape the look at attributes.
NAMES = {"aware_utcnow", "datetime_from_epoch", "update_last_login", "time_ns", "utcnow"}
ALLOWED = {
    "kernel/clock.py": "the one place",
    "testing.py": "moves the clock of a project's tests",
}


def readings(path):
    """The calls that read the clock, and references to functions that do."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Attribute):
            owner = node.value
            name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
            # `localtime` of an argument converts; without one it reads.
            if node.attr in READERS.get(name, ()) and not converts(path, node):
                yield f"{node.lineno}: {name}.{node.attr}"
        elif isinstance(node, ast.ImportFrom):
            if node.module == "time":
                yield from (f"{node.lineno}: {n.name}" for n in node.names if n.name == "time")
            yield from (f"{node.lineno}: {n.name}" for n in node.names if n.name in NAMES)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"Now"}:
            yield f"{node.lineno}: Now()"


def converts(path, attribute):
    calls = (node for node in ast.walk(parsed(path)) if isinstance(node, ast.Call))
    return attribute.attr in {"localtime", "strftime", "gmtime"} and any(
        call.args and ast.dump(call.func) == ast.dump(attribute) for call in calls
    )


def sources():
    return (path for path in paths() if path.relative_to(TREE).as_posix() not in ALLOWED)


def test_clock_is_read_in_one_place():
    found = {str(path.relative_to(TREE)): list(readings(path)) for path in sources()}

    assert {path: lines for path, lines in found.items() if lines} == {}


def test_function_reads_the_time_once():
    """Two calls in one function are two times if it is called outside of a unit of work."""
    twice = []
    for path in sources():
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                calls = [
                    call
                    for call in ast.walk(node)
                    if isinstance(call, ast.Call)
                    and isinstance(call.func, ast.Attribute)
                    and getattr(call.func.value, "id", "") == "clock"
                    and call.func.attr in {"now", "utc", "timestamp"}
                ]
                once = any("once" in ast.dump(decorator) for decorator in node.decorator_list)
                if len(calls) > 1 and not once:
                    twice.append(f"{path.relative_to(TREE)}: {node.name}")

    assert twice == []
