"""Settings of the API description."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from authservice.kernel.settings import section


@dataclass(frozen=True, kw_only=True)
class OpenAPI:
    """`AUTHSERVICE["OPENAPI"]`."""

    access: Literal["everyone", "super_admins"] = "everyone"
    """Who may read the description and its pages: with `"super_admins"` a request needs the bearer
    token of one, or the session of one who is signed in to Django admin."""
    pages: bool = True
    """Whether the pages `docs` and `redoc` are there beside the description itself."""
    title: str = "Authentication API"
    """What the description is called."""


conf = section("OPENAPI", OpenAPI)
