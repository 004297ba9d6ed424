"""Collects every text of the package that has a translation: from Python code and from templates.

In Python these are the literal arguments of the functions in `kernel/languages.py`, of Django's
`gettext` functions, and the messages of error classes. In templates Django's own parser finds them.
"""

from __future__ import annotations

import ast
import gettext
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import django
from django.template import Engine
from django.template.backends.django import DjangoTemplates
from django.template.base import Node
from django.templatetags.i18n import BlockTranslateNode, TranslateNode

from authservice.kernel.languages import ADMIN, API, MARKER, PAGES
from tests.support.sources import parsed

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "authservice"
# The module that defines the functions also calls them with variables.
_DEFINES = PACKAGE / "kernel/languages.py"
# Name of a function: its context (None: the first argument), and whether it has a plural.
_FUNCTIONS = {
    "phrase": (API, False),
    "phrase_count": (API, True),
    "admin_text": (ADMIN, False),
    "admin_count": (ADMIN, True),
    "page_text": (PAGES, False),
    "page_count": (PAGES, True),
    # Each sentence of the audit log is shown to its user.
    "Action": (API, False),
    "gettext": ("", False),
    "gettext_lazy": ("", False),
    "ngettext": ("", True),
    "pgettext": (None, False),
    "pgettext_lazy": (None, False),
    "npgettext": (None, True),
}


@dataclass(frozen=True, order=True)
class Text:
    """One text: `context` is "" without one, `plural` is "" without one."""

    context: str
    singular: str
    plural: str = ""

    @property
    def for_staff(self) -> bool:
        """Whether only Django admin shows it."""
        return self.context == ADMIN


class NotLiteral(Exception):
    """A text is not written out in the code, so no catalogue can have it."""


@cache
def of_apps() -> dict[Path, dict[Text, list[str]]]:
    """The texts of each app by its folder, with the files that they are in. Code outside an app
    belongs to core, which is always installed."""
    core = PACKAGE / "core"
    found: dict[Path, dict[Text, list[str]]] = {core: {Text(API, MARKER): []}}
    for file in sorted(PACKAGE.rglob("*")):
        if file.suffix not in (".py", ".html", ".txt") or "migrations" in file.parts:
            continue
        folder = PACKAGE / file.relative_to(PACKAGE).parts[0]
        app = folder if (folder / "apps.py").exists() else core
        for text in of_python(file) if file.suffix == ".py" else of_template(file):
            places = found.setdefault(app, {}).setdefault(text, [])
            places.append(str(file.relative_to(ROOT)))
    return found


def of_python(file: Path) -> Iterator[Text]:
    tree = parsed(file)
    names = _aliases(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from _of_call(node, file, names)
        elif isinstance(node, ast.ClassDef):
            yield from (Text(API, literal) for literal in _messages(node))


def _aliases(tree: ast.Module) -> dict[str, str]:
    """The functions that the file imports under another name, such as `_`."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {name.asname: name.name for one in imports for name in one.names if name.asname}


def _of_call(call: ast.Call, file: Path, names: Mapping[str, str]) -> Iterator[Text]:
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    name = names.get(name, name)
    # An action of a page has its label by name.
    if name not in _FUNCTIONS or (name == "Action" and not call.args):
        return
    context, has_plural = _FUNCTIONS[name]
    # A variable without a context is a text of another package, such as simplejwt.
    if (file == _DEFINES or context == "") and not isinstance(call.args[0], ast.Constant):
        return
    given = list(call.args)
    if context is None:
        context = _literal(given.pop(0), call, file)
        if context == MARKER:
            return
    singular = _literal(given[0], call, file)
    yield Text(context, singular, _literal(given[1], call, file) if has_plural else "")


def _literal(node: ast.expr, call: ast.Call, file: Path) -> str:
    if isinstance(node, ast.Name) and node.id == "API":
        return MARKER  # how `languages.py` looks up the marker
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    place = f"{file.relative_to(ROOT)}:{call.lineno}"
    raise NotLiteral(f"{place}: write the text out, and pass values as arguments: %(name)s.")


def _messages(node: ast.ClassDef) -> Iterator[str]:
    for line in node.body:
        if not isinstance(line, ast.Assign) or not isinstance(line.value, ast.Constant):
            continue
        if getattr(line.targets[0], "id", "") == "message" and line.value.value:
            yield line.value.value


def of_template(file: Path) -> Iterator[Text]:
    # A parent template is found when the page is rendered, so parsing needs none.
    for node in _nodes(_engine().from_string(file.read_text()).nodelist):
        text = _of_node(node)
        if text and not (_in_admin(file) and text.singular in _of_django()):
            yield text


@cache
def _engine() -> Engine:
    # The tags of Django admin, which the host of the tests need not have installed.
    tags = "django.contrib.admin.templatetags"
    libraries = {name: f"{tags}.{name}" for name in ("admin_list", "admin_modify", "admin_urls")}
    options = {"libraries": libraries}
    backend = DjangoTemplates({"NAME": "texts", "DIRS": [], "APP_DIRS": False, "OPTIONS": options})
    return backend.engine


def _nodes(nodes: object) -> Iterator[Node]:
    for node in nodes:  # type: ignore[attr-defined]
        yield node
        for name in {"nodelist", *getattr(node, "child_nodelists", ())}:
            yield from _nodes(getattr(node, name, ()))
        for _, branch in getattr(node, "conditions_nodelists", ()):
            yield from _nodes(branch)


def _of_node(node: Node) -> Text | None:
    context = getattr(node, "message_context", None)
    spoken_to = context.var if context else ""
    if isinstance(node, TranslateNode):
        return Text(str(spoken_to), str(node.filter_expression.var.literal))
    if isinstance(node, BlockTranslateNode):
        singular = node.render_token_list(node.singular)[0]
        plural = node.render_token_list(node.plural)[0] if node.plural else ""
        return Text(str(spoken_to), singular, plural)
    return None


def _in_admin(file: Path) -> bool:
    return any(part.startswith("admin") for part in file.relative_to(PACKAGE).parts[1:])


@cache
def _of_django() -> frozenset[str]:
    """The texts that Django's own catalogues have; its admin pages, which ours extend, use them."""
    home = Path(django.__file__).parent
    folders = (home / "conf/locale", home / "contrib/admin/locale", home / "contrib/auth/locale")
    found = [gettext.translation("django", folder, ["de"])._catalog for folder in folders]  # type: ignore[attr-defined]
    keys = (key for catalogue in found for key in catalogue)
    return frozenset(key[0] if isinstance(key, tuple) else key for key in keys)
