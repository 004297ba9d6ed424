"""Rendering of our templates. A host project may override each with its own at the same path.

The file's extension decides whether HTML is escaped, not the options of a template engine: the
values are written by untrusted users. `string_if_invalid`, an aid for the project's own templates,
does not apply either: our templates use variables that are absent, and people would read its text
in mails and on pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

from django.template import Context, Engine, TemplateDoesNotExist, engines
from django.template.backends.django import DjangoTemplates, Template
from django.template.loader import get_template
from django.template.loaders import cached

from authservice.kernel.settings import cached_for_host

_APPS = "django.template.loaders.app_directories.Loader"


def render(path: str, context: Mapping[str, Any]) -> str:
    try:
        template: Any = get_template(path)
    except TemplateDoesNotExist:
        template = _own_engine().get_template(path)
    if isinstance(template, Template):
        values = Context(dict(context), autoescape=path.endswith(".html"))
        template_copy = copy(template.template)
        template_copy.engine = _without_aids(template_copy.engine)
        return str(template_copy.render(values))
    return str(template.render(dict(context)))


@cached_for_host
def _without_aids(engine: Engine) -> Engine:
    """A copy of the engine without `string_if_invalid`, with the same loaders and their cache. A
    template of the project may extend or include one of ours, which the engine of the project need
    not load. So a loader of our templates follows the others."""
    quiet = copy(engine)
    quiet.string_if_invalid = ""
    loaders = [*engine.template_loaders, cached.Loader(quiet, [_APPS])]
    # `template_loaders` is a cached property of the engine, and this is its value.
    quiet.__dict__["template_loaders"] = loaders
    return quiet


@cached_for_host
def _own_engine() -> DjangoTemplates:
    """An engine for host projects whose engines do not load templates of apps. The directories of
    those engines still come first."""
    directories = [path for engine in engines.all() for path in getattr(engine, "dirs", ())]
    return DjangoTemplates(
        {"NAME": "authservice", "DIRS": directories, "APP_DIRS": True, "OPTIONS": {}}
    )
