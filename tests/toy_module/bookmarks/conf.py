"""Settings of the module."""

from dataclasses import dataclass
from datetime import timedelta

from authservice.kernel.rules import Positive
from authservice.kernel.settings import section


@dataclass(frozen=True, kw_only=True)
class BookmarkSettings:
    """`AUTHSERVICE["BOOKMARKS"]`."""

    most: Positive[int] = 2
    """How many bookmarks a user keeps."""
    ttl: Positive[timedelta] = timedelta(days=30)
    """How long a bookmark is kept."""


conf = section("BOOKMARKS", BookmarkSettings)
