"""``python -m tests.tools.structure``: measures how finely the code of `authservice` is cut.

Counts the source files without migrations, translations and empty packages. A crumb is a file below
60 lines that exactly one other file imports: a reader who follows the story has to open it, and
nobody looks for it by its name. `--list` also prints the crumbs, the twins and the functions.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median

from tests.support.sources import parsed

ROOT = Path(__file__).parents[2] / "authservice"
CRUMB = 60
# Files of one name that each app of Django may have.
_LOOKED_UP_BY_NAME = {"__init__", "admin", "apps", "checks", "models", "urls"}
OF_DJANGO = _LOOKED_UP_BY_NAME | {"conf", "managers", "signals", "views"}
# The same of the REST framework and of Celery, and what host projects import or name in settings.
_OF_HOSTS = {"decorators", "middleware", "permissions", "serializers", "tasks"}
# Each module has its errors in one file, which the reference lists, its part of the support page in
# another, what it imports from other packages in a third, and what `authservice_doctor` runs in a
# fourth.
_OF_MODULES = {"errors", "support", "sources", "examinations"}


@dataclass(frozen=True)
class Source:
    """A source file, by its path below `authservice`."""

    path: Path

    @cached_property
    def text(self) -> str:
        return (ROOT / self.path).read_text()

    @cached_property
    def tree(self) -> ast.Module:
        return parsed(ROOT / self.path)

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())

    @property
    def module(self) -> str:
        parts = self.path.with_suffix("").parts
        return ".".join(("authservice", *(parts[:-1] if parts[-1] == "__init__" else parts)))

    def code_lines(self) -> int:
        """Lines that are neither blank, nor comments, nor docstrings."""
        prose = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                first = node.body[0] if node.body else None
                if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                    prose.update(range(first.lineno, (first.end_lineno or 0) + 1))
        lines = enumerate(self.text.splitlines(), 1)
        return sum(
            1 for number, line in lines if number not in prose and line.strip()[:1] not in ("", "#")
        )

    def import_lines(self) -> int:
        nodes = (it for it in ast.walk(self.tree) if isinstance(it, ast.Import | ast.ImportFrom))
        return sum((node.end_lineno or 0) - node.lineno + 1 for node in nodes)

    def imported(self) -> Iterator[str]:
        """The dotted names that the file imports: modules, and members of modules."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from (name.name for name in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                for name in node.names:
                    yield f"{node.module}.{name.name}"
                yield node.module

    def private_functions(self) -> dict[str, tuple[int, int]]:
        """Functions and methods whose names begin with one underscore: how often the file names
        them, and how often it calls them. What is only named is given to others, which call it."""
        names = [
            node.name
            for node in ast.walk(self.tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and node.name.startswith("_")
            and not node.name.startswith("__")
        ]
        named, called = Counter[str](), Counter[str]()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                named[node.id] += 1
            elif isinstance(node, ast.Attribute):
                named[node.attr] += 1
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                called[getattr(node.func, "id", "") or getattr(node.func, "attr", "")] += 1
        return {name: (named[name], called[name]) for name in names}


def sources() -> list[Source]:
    paths = (path.relative_to(ROOT) for path in sorted(ROOT.rglob("*.py")))
    return [
        Source(path)
        for path in paths
        if not {"migrations", "locale"} & set(path.parts) and (ROOT / path).read_text().strip()
    ]


def importers(files: list[Source]) -> dict[str, set[str]]:
    """For each module the modules that import it."""
    modules = {file.module for file in files}
    found = defaultdict(set)
    for file in files:
        for name in file.imported():
            if name in modules and name != file.module:
                found[name].add(file.module)
    return found


def crumbs(files: list[Source]) -> list[Source]:
    """Files below 60 lines with exactly one importer, but for those that Django looks up."""
    known = importers(files)
    return [
        file
        for file in files
        if file.lines < CRUMB
        and len(known[file.module]) == 1
        and file.path.stem not in _LOOKED_UP_BY_NAME
        and "management" not in file.path.parts
    ]


def twins(files: list[Source]) -> dict[str, list[Path]]:
    """Names of several files, but for those that each module may have."""
    own, places = OF_DJANGO | _OF_HOSTS | _OF_MODULES, defaultdict(list)
    for file in files:
        if file.path.stem not in own and "commands" not in file.path.parts:
            places[file.path.stem].append(file.path)
    return {name: paths for name, paths in places.items() if len(paths) > 1}


def called_once(files: list[Source]) -> dict[Path, list[str]]:
    """Private functions that one place calls, and that nothing else names."""
    found = {
        file.path: [name for name, uses in file.private_functions().items() if uses == (1, 1)]
        for file in files
    }
    return {path: names for path, names in found.items() if names}


def given_away(files: list[Source]) -> int:
    """Private functions that the file names once and never calls: callbacks, rows of tables."""
    uses = (use for file in files for use in file.private_functions().values())
    return sum(1 for use in uses if use == (1, 0))


def extension_points() -> int:
    """The attributes of `ModuleConfig` that a module can fill."""
    tree = ast.parse((ROOT / "kernel" / "modules.py").read_text())
    for node in ast.walk(tree):
        targets = (
            node.targets
            if isinstance(node, ast.Assign)
            else [node.target]
            if isinstance(node, ast.AnnAssign)
            else []
        )
        if any(isinstance(it, ast.Name) and it.id == "SLOTS" for it in targets):
            value = node.value
            assert isinstance(value, ast.Tuple | ast.Dict | ast.Call | ast.Set | ast.List)
            if isinstance(value, ast.Call):
                value = value.args[0]
            return len(value.keys if isinstance(value, ast.Dict) else value.elts)
    raise LookupError("kernel/modules.py has no SLOTS")


def table() -> list[tuple[str, str, str]]:
    """Rows of what is measured, its value, and the aim."""
    files = sources()
    own = [file for file in files if file.path.stem != "__init__"]
    lines = [file.lines for file in own]
    code = sum(file.code_lines() for file in files)
    single = called_once(files)
    return [
        ("files", str(len(own)), "<= 300"),
        ("median lines of a file", f"{median(lines):.0f}", ">= 120"),
        ("files of at most 60 lines", str(sum(1 for n in lines if n <= CRUMB)), ""),
        ("crumbs", str(len(crumbs(files))), "0"),
        ("lines", str(sum(file.lines for file in files)), "<= 42000"),
        ("lines of code", str(code), ""),
        ("import statements", f"{sum(f.import_lines() for f in files) / code:.1%}", "<= 11 %"),
        ("extension points", str(extension_points()), "<= 12"),
        ("private functions", str(sum(len(f.private_functions()) for f in files)), ""),
        ("private functions with one caller", str(sum(map(len, single.values()))), "<= 300"),
        ("private functions given to others", str(given_away(files)), ""),
        ("names of several files", str(len(twins(files))), "0"),
    ]


def main() -> int:
    for name, value, aim in table():
        print(f"{name:36} {value:>8}  {aim}")
    if "--list" in sys.argv:
        files = sources()
        for file in crumbs(files):
            print(f"crumb   {file.path} ({file.lines})")
        for name, paths in twins(files).items():
            print(f"twins   {name}: {', '.join(map(str, paths))}")
        for path, names in called_once(files).items():
            print(f"once    {path}: {', '.join(names)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
