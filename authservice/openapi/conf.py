"""Settings of the API description."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from authservice.kernel.settings import section


@dataclass(frozen=True, kw_only=True)
class OpenAPI:
    """`AUTHSERVICE["OPENAPI"]`."""

    access: Literal["everyone", "super_admins"] = "everyone"
    """Who may read the description and its pages. `"super_admins"` requires the access token of a
    super admin, or a superuser who is logged in to Django admin."""
    pages: bool = True
    """Whether to serve the pages `docs` and `redoc` in addition to the description."""
    title: str = "Authentication API"
    """Title of the description."""


conf = section("OPENAPI", OpenAPI)
