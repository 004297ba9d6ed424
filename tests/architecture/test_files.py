"""Rules of the source files that can be checked without running them."""

import ast
from pathlib import Path

import authservice
from tests.support import sources
from tests.tools import structure

ROOT = Path(authservice.__file__).parent
SOURCES = [
    path.relative_to(ROOT) for path in sorted(ROOT.rglob("*.py")) if "migrations" not in path.parts
]
TREE = ROOT.parent
WRITTEN = sorted(
    path.relative_to(TREE)
    for part in ("authservice", "docs", "example_project", "tests")
    for path in (TREE / part).rglob("*.py")
)
LONGEST = 500
# Optional extras, which may be absent or too heavy for those who do not use them.
_DEVELOPMENT = ("jinja2", "oidc_provider_mock", "werkzeug")
EXTRAS = (
    *("phonenumbers", "qrcode", "celery", "social_core", "yaml", "django_otp", "redis"),
    *("webauthn", "cbor2", "fido2"),
    *_DEVELOPMENT,
)
LATE = {
    # The REST framework loads this file before the models, which what it imports needs.
    Path("authentication.py"): ["authservice.core.api"],
    # The reason is in its docstring.
    Path("core/tokens/signing.py"): [
        "jwt.algorithms",
        "cryptography.hazmat.primitives.serialization",
        "jwt",
    ],
    # The reason is in its docstring too.
    Path("passkeys/attestation.py"): [
        "cryptography",
        "cryptography.hazmat.primitives.serialization",
    ],
    # A fifth of the start of each process, of which few ask the list of breached passwords.
    Path("core/credentials/password_rules.py"): ["authservice.kernel.outbound"],
    Path("core/user_checks.py"): ["authservice.kernel.outbound"],
    # A megabyte in each worker, of which few serve the description.
    Path("openapi/as_text.py"): ["authservice.openapi.document"],
}


def tree(path):
    return sources.parsed(ROOT / path)


def local_imports(path):
    """Modules imported inside a function, but for `ready` of an AppConfig."""
    for function in ast.walk(tree(path)):
        if isinstance(function, ast.FunctionDef) and function.name != "ready":
            for node in ast.walk(function):
                if isinstance(node, ast.Import):
                    yield from (name.name for name in node.names)
                elif isinstance(node, ast.ImportFrom):
                    yield node.module or ""


def relative_imports(path):
    nodes = ast.walk(tree(path))
    return [node for node in nodes if isinstance(node, ast.ImportFrom) and node.level]


def test_no_file_is_a_crumb():
    """A short file that only one other file imports is a step of that file's story."""
    assert [str(source.path) for source in structure.crumbs(structure.sources())] == []


def test_no_file_is_longer_than_500_lines():
    # Django writes migrations, and each table has one.
    lengths = {
        path: len((TREE / path).read_text().splitlines())
        for path in WRITTEN
        if "migrations" not in path.parts
    }

    assert [str(path) for path, length in lengths.items() if length > LONGEST] == []


def test_imports_are_at_the_top():
    late = {
        path: [name for name in local_imports(path) if name.split(".")[0] not in EXTRAS]
        for path in SOURCES
    }

    assert {path: names for path, names in late.items() if names} == LATE


def test_imports_are_absolute():
    assert [str(path) for path in SOURCES if relative_imports(path)] == []


def test_each_module_has_a_docstring():
    modules = [path for path in SOURCES if path.name != "__init__.py"]

    assert [str(path) for path in modules if not ast.get_docstring(tree(path))] == []


def test_slow_tests_that_another_run_starts_are_started():
    """The folders `inside` are tried by runs of their own, which leave out slow ones by default."""

    def holds(words, paths):
        return any(words in (TREE / path).read_text() for path in paths)

    inside = {path.parent for path in WRITTEN if path.parent.name == "inside"}
    slow = [folder for folder in inside if holds("mark.slow", (TREE / folder).glob("*.py"))]

    assert slow
    assert [
        str(folder)
        for folder in slow
        if not holds('"-m", "slow"', (TREE / folder).parent.glob("test_*.py"))
    ] == []


def test_the_package_itself_is_no_app():
    assert not (ROOT / "apps.py").exists()
    assert not (ROOT / "models.py").exists()


def test_the_package_says_that_it_is_typed():
    assert (ROOT / "py.typed").exists()


def taken_from_functools(path):
    nodes = ast.walk(tree(path))
    taken = (it for it in nodes if isinstance(it, ast.ImportFrom) and it.module == "functools")
    return {name.name for node in taken for name in node.names}


def test_no_cached_property_of_functools():
    """Up to Python 3.11 the property of `functools` lets one thread of a process in at a time, for
    all instances: requests would wait for each other's queries. Django's does not."""
    locked = [str(path) for path in SOURCES if "cached_property" in taken_from_functools(path)]

    assert locked == []
