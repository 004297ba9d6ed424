"""Settings of the stateless module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from authservice.kernel.settings import section


@dataclass(frozen=True, kw_only=True)
class Stateless:
    """`AUTHSERVICE["STATELESS"]`."""

    check: Literal["full", "signature"] = "full"
    """With `"signature"`, `GET` requests accept an access token until it expires, without a query:
    a logout or a changed password then takes effect for them only at the next refresh."""


conf = section("STATELESS", Stateless)
