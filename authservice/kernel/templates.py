"""Rendering of our templates. A host project may override each with its own at the same path.

The file's extension decides whether HTML is escaped, not the options of a template engine: the
values are written by untrusted users. `string_if_invalid`, an aid for the project's own templates,
does not apply either: ours leave variables out, and people would read it in mails and on pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

from django.template import Context, Engine, TemplateDoesNotExist, engines
from django.template.backends.django import DjangoTemplates, Template
from django.template.loader import get_template

from authservice.kernel.settings import cached_for_host


def render(path: str, context: Mapping[str, Any]) -> str:
    template = _find(path)
    if isinstance(template, Template):
        wrapped = Context(dict(context), autoescape=path.endswith(".html"))
        own = copy(template.template)
        own.engine = _without_aids(own.engine)
        return str(own.render(wrapped))
    return str(template.render(dict(context)))


def _find(path: str) -> Any:
    try:
        return get_template(path)
    except TemplateDoesNotExist:
        return _own_engine().get_template(path)


@cached_for_host
def _without_aids(engine: Engine) -> Engine:
    """The same engine, with the same loaders and their cache."""
    quiet = copy(engine)
    quiet.string_if_invalid = ""
    return quiet


@cached_for_host
def _own_engine() -> DjangoTemplates:
    """An engine for host projects whose engines do not load templates of apps. Their directories
    still come first."""
    directories = [place for engine in engines.all() for place in getattr(engine, "dirs", ())]
    return DjangoTemplates(
        {"NAME": "authservice", "DIRS": directories, "APP_DIRS": True, "OPTIONS": {}}
    )
