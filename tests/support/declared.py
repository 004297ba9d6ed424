"""What the apps of the package declare, whether the host of a test installs them or not."""

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import authservice
from authservice.kernel.actions import Action
from authservice.kernel.modules import ModuleConfig

TREE = Path(authservice.__file__).parent


def configs() -> Iterator[type[ModuleConfig]]:
    """The configuration of each app, core first."""
    for path in sorted(TREE.rglob("apps.py"), key=lambda path: (path.parent.name != "core", path)):
        module = f"authservice.{'.'.join(path.parent.relative_to(TREE).parts)}.apps"
        for value in vars(import_module(module)).values():
            if isinstance(value, type) and value.__module__ == module:
                yield value


def actions() -> dict[str, Action]:
    return {name: action for config in configs() for name, action in config.actions.items()}


def checks() -> Iterator[tuple[Path, str, tuple[str, str]]]:
    """File, id, cause and remedy of each system check, as written."""
    for path in sorted(TREE.rglob("*.py")):
        source = path.read_text()
        # Few files call it, and each worker of the tests reads all of them.
        for node in ast.parse(source).body if "declare(" in source else ():
            call = node.value if isinstance(node, ast.Expr) else None
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "declare":
                entries = call.args[0]
                assert isinstance(entries, ast.Dict)
                for key, text in zip(entries.keys, entries.values, strict=True):
                    assert key is not None
                    yield path, ast.literal_eval(key), ast.literal_eval(text)


def import_errors() -> None:
    """Complete the catalogue of errors: each app declares them in a file that imports no model."""
    for path in sorted(TREE.glob("*/errors.py")):
        import_module(f"authservice.{path.parent.name}.errors")
