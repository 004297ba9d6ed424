"""The sources of this module. Each reads its package's tables through Django's registry of models,
so that no package needs to be installed."""

from __future__ import annotations

from collections.abc import Iterator

from authservice.kernel.imports import ImportSource
from authservice.oauth.importing.allauth import AllauthRows
from authservice.oauth.importing.imported_links import LinkImport
from authservice.oauth.importing.social_django import SocialDjangoRows


def import_sources() -> Iterator[tuple[str, ImportSource]]:
    """Each source with the name of its package; `kernel/imports.py` finds this function by name."""
    yield "social_django", LinkImport(SocialDjangoRows())
    yield "allauth", LinkImport(AllauthRows())
