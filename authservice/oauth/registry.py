"""The configured providers by name, built when they are first needed."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from authservice.kernel import settings
from authservice.oauth import provider_settings
from authservice.oauth.provider import Provider


@settings.cached
def configured() -> Mapping[str, Provider]:
    """All providers of the settings, disabled ones included, in their order there. Raises
    `ImproperlyConfigured` if their settings are invalid."""
    return MappingProxyType(
        {entry.name: provider_settings.build(entry) for entry in provider_settings.read()}
    )


def get(name: str) -> Provider | None:
    """The provider with this name, enabled or not."""
    return configured().get(name)
