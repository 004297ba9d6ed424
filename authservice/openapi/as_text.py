"""The description as text, in JSON or YAML."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from authservice.kernel.sections import mount
from authservice.kernel.settings import on_change

Document = dict[str, Any]


def text(render: Callable[[Document], str]) -> str:
    """The description of the installed modules as text, made by `render`.

    Cached per mount, which depends on the script prefix, and on the language below `i18n_patterns`:
    the route may be public, and building the document is expensive.
    """
    return _text(mount(), render)


@lru_cache(maxsize=32)
def _text(_mount: str, render: Callable[[Document], str]) -> str:
    # Imported here, because texts and schemas take a megabyte of each worker, and few serve them.
    from authservice.openapi.document import describe

    return render(describe())


def packed(render: Callable[[Document], str]) -> bytes:
    """The result of `text`, compressed with gzip."""
    return _packed(mount(), render)


@lru_cache(maxsize=32)
def _packed(_mount: str, render: Callable[[Document], str]) -> bytes:
    return gzip.compress(text(render).encode())


on_change(_text.cache_clear)
on_change(_packed.cache_clear)


def as_json(document: Document) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def as_yaml(document: Document) -> str:
    # Imported here, because the optional dependency may be missing; a system check reports that.
    import yaml

    class Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
        """Writes texts of several lines as blocks, and repeated objects in full."""

        def ignore_aliases(self, data: object) -> bool:
            return True

    def block(dumper: Any, content: str) -> Any:
        style = "|" if "\n" in content else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", content, style=style)

    Dumper.add_representer(str, block)
    output: str = yaml.dump(document, Dumper=Dumper, sort_keys=False, allow_unicode=True)
    return output
