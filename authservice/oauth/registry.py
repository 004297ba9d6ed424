"""The configured providers by name. Each is built when it is first used: the back ends of
social-auth-core need memory, which a worker saves until a user logs in with one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from authservice.kernel import settings
from authservice.oauth import provider_settings
from authservice.oauth.provider import Provider
from authservice.oauth.provider_settings import Entry


@settings.cached
def configured() -> Mapping[str, Entry]:
    """The settings of all providers, disabled ones included, in the order of the settings."""
    return MappingProxyType({entry.name: entry for entry in provider_settings.read()})


def get(name: str) -> Provider | None:
    """The provider with this name, enabled or not. Raises `ImproperlyConfigured` if its settings
    are invalid."""
    return built(name) if name in configured() else None


@settings.cached
def built(name: str) -> Provider:
    """The provider with this name, which must be configured."""
    return provider_settings.build(configured()[name])
