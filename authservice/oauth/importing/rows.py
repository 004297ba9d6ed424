"""What a package knows of its links, in one shape for all packages."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from urllib.parse import urlsplit

from django.db.models import Model


@dataclass(frozen=True, kw_only=True)
class Row:
    """One link of the other package. `claim` is the member of the profile that `uid` was read from,
    or "" if the package does not know it."""

    pk: Any
    user_id: Any
    provider: str
    uid: str
    claim: str
    email: str
    added_at: datetime


class PackageRows(Protocol):
    """Reads the links of a package."""

    package: str
    """Its name on the package index."""
    app: str
    """The app that must be in `INSTALLED_APPS`."""
    reads: Collection[str]
    """The label of the model of its links."""
    names: Mapping[str, str]
    """Our name of each provider whose identifiers are the subjects that we use."""
    added_field: str
    """The field with the time at which a row was added."""

    def model(self) -> type[Model]:
        """The model of the links; its user is in the field `user`."""

    def read(self, row: Any) -> Row:
        """A row of that model."""

    def servers(self, provider: str) -> Collection[str]:
        """The servers that issued the identifiers of a provider, as `server_of` has them; empty if
        unknown."""

    def clients(self, provider: str) -> Collection[str]:
        """The client ids (Apple: the teams) with which users logged in; empty if unknown."""

    def is_own(self, provider: str) -> bool:
        """Whether the project has a class of its own for a provider, which may lead to another
        server or read another identifier."""

    def problem(self, provider: str) -> str:
        """Why no row of this provider can be imported, by the settings of the package; "" if there
        is no reason."""


def server_of(address: str) -> str:
    """Host and path of a server's address, by which two addresses are compared."""
    address = address.partition("/.well-known/")[0]
    parts = urlsplit(address if "://" in address else f"//{address}")
    return f"{parts.netloc.lower()}{parts.path.rstrip('/')}"
