"""Directives that write reference tables from the code, so that they cannot be wrong."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import authservice

# The files that declare settings.
DECLARING = ("conf", "sections", "throttling")


class Table(ABC, SphinxDirective):
    """A definition list that `entries` yields as lines of reStructuredText."""

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes("\n".join(self.entries()))

    @abstractmethod
    def entries(self) -> Iterator[str]:
        """The lines."""


class ErrorCatalogue(Table):
    def entries(self) -> Iterator[str]:
        from authservice.kernel import errors

        yield from (".. list-table::", "   :header-rows: 1", "   :widths: 34 12 54", "")
        yield from ("   * - Code", "     - Status", "     - Message")
        for fault in errors.catalogue():
            yield f"   * - ``{fault.code}``"
            yield f"     - {fault.status}"
            yield f"     - {fault.message}"


class ActionCatalogue(Table):
    def entries(self) -> Iterator[str]:
        from authservice.kernel.actions import ACTIONS

        yield from (".. list-table::", "   :header-rows: 1", "   :widths: 34 12 18 36", "")
        yield from ("   * - Action", "     - Severity", "     - Actor", "     - Details")
        for name, action in ACTIONS.items():
            yield f"   * - ``{name}``"
            yield f"     - {action.severity}"
            yield f"     - {', '.join(action.actors)}"
            yield f"     - {action.text}"


class SendLimits(Table):
    def entries(self) -> Iterator[str]:
        from authservice.core.messages.limits import LIMITS

        yield from (".. list-table::", "   :header-rows: 1", "   :widths: 18 40 28 14", "")
        yield from ("   * - Limit", "     - Messages", "     - Counted for each", "     - At most")
        for limit in LIMITS:
            yield f"   * - ``{limit.name}``"
            yield f"     - {limit.messages}"
            yield f"     - {limit.counted_for}"
            yield f"     - {limit.amount} in {_span(limit.window)}"


class SettingsReference(Table):
    def entries(self) -> Iterator[str]:
        from authservice.kernel import settings

        for module in pkgutil.walk_packages(authservice.__path__, "authservice."):
            if module.name.rpartition(".")[2] in DECLARING:
                importlib.import_module(module.name)
        for name, schema in settings.declared().items():
            title = f"``{name}``" if name else "Directly in ``AUTHSERVICE``"
            yield from ("", f".. rubric:: {title}", "")
            texts = _documented(schema)
            for field in dataclasses.fields(schema):
                yield f"``{field.name.upper()}`` (default ``{_default(field)}``)"
                yield f"   {texts[field.name]}"
                yield ""


def _span(window: timedelta) -> str:
    minutes = int(window.total_seconds()) // 60
    if minutes % 60:
        return f"{minutes} minutes"
    return "an hour" if minutes == 60 else f"{minutes // 60} hours"


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default_factory is not dataclasses.MISSING:
        return repr(field.default_factory())
    if isinstance(field.default, timedelta):
        return str(field.default)
    return repr(field.default)


def _documented(schema: type[Any]) -> dict[str, str]:
    """The string below each field, which Python itself does not keep."""
    body = ast.parse(inspect.getsource(schema)).body[0].body  # type: ignore[attr-defined]
    texts = {}
    for line, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(line, ast.AnnAssign) and isinstance(following, ast.Expr):
            texts[line.target.id] = " ".join(following.value.value.split())  # type: ignore[attr-defined,union-attr]
    return texts


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("error-catalogue", ErrorCatalogue)
    app.add_directive("action-catalogue", ActionCatalogue)
    app.add_directive("send-limits", SendLimits)
    app.add_directive("settings-reference", SettingsReference)
    return {"parallel_read_safe": True}
