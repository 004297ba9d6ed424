"""Slugs: the short name of an organization in URLs, unique among all organizations."""

from __future__ import annotations

import re
import secrets
import unicodedata

from authservice.kernel.phrases import phrase
from authservice.organization.models import SLUG, Organization

# No hyphen at either end; 2 to 64 characters.
FORM = re.compile(r"[a-z0-9][a-z0-9-]{0,62}[a-z0-9]")
RULE = phrase(
    "Must be 2 to 64 lowercase characters a-z, digits and hyphens, with no hyphen at either end."
)
_SHORTEST = 2
# An organization with a common name gets a random suffix after so many numbers.
_NUMBERED = 100
_MOST_READ = 1000  # slugs; of more with the same start, some numbers are tried although taken


def is_slug(text: str) -> bool:
    return FORM.fullmatch(text) is not None


def base_of(name: str) -> str:
    """A slug from a name, without its suffix; random if the name has too few ASCII characters."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    base = re.sub(r"[^a-z0-9]+", "-", plain)[:SLUG].strip("-")
    return base if len(base) >= _SHORTEST else f"org-{secrets.token_hex(6)}"


def numbered(base: str, number: int) -> str:
    """The base itself for 1, then `base-2`, `base-3`, …; cut to 64 characters."""
    if number == 1:
        return base
    suffix = f"-{number}" if number <= _NUMBERED else f"-{secrets.token_hex(6)}"
    return base[: SLUG - len(suffix)].rstrip("-") + suffix


def first_free(base: str, *, least: int) -> int:
    """The first number from `least` on whose slug no organization has."""
    # A long base is cut to make room for the suffix, so look for slugs that begin with its start.
    start = base[: SLUG - len(f"-{_NUMBERED}")].rstrip("-")
    rows = Organization.objects.filter(slug__startswith=start)
    taken = set(rows.values_list("slug", flat=True)[:_MOST_READ])
    number = least
    while number <= _NUMBERED and numbered(base, number) in taken:
        number += 1
    return number
