"""Settings of this module."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Annotated, Any

from authservice.kernel.rules import MetadataMax, NotNegative, Positive, Rule, WhoMay
from authservice.kernel.settings import section

NAME = 255  # maximum length of an organization's name, in characters


def name_from(pattern: str, name: str) -> str:
    """The name of the organization that a new user with this name gets."""
    return pattern.format(name=name)[:NAME].strip()


def _makes_a_name(pattern: str) -> bool:
    try:
        return bool(name_from(pattern, "Ann"))
    except (ValueError, LookupError, AttributeError):
        return False


_NamePattern = Annotated[
    str,
    Rule(
        "a name with at most the placeholder {name}",
        _makes_a_name,
        'Use a text such as "{name}\'s organization". The sign-up of a user whose organization'
        " cannot be named fails.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class Organizations:
    """`AUTHSERVICE["ORGANIZATION"]`."""

    auto_create: bool = False
    """Whether each user who signs up gets an organization of their own. A user who signs up by
    accepting an invitation to an organization does not."""
    auto_create_name: _NamePattern = "{name}'s organization"
    """Name of such an organization. `{name}` is the user's name, username or the local part of the
    e-mail address, whichever is the first that is known."""
    who_may_create: WhoMay = "everyone"
    """Which users may create an organization over the API: `everyone`, `super_admins`, or a dotted
    path to a function of the project that is called with the user and returns whether they may."""
    roles: Mapping[Any, Any] = field(default_factory=dict)
    """Roles of the project by name, beside `owner`, `admin` and `member`, which are always there.
    Each is a dict of `rank` (150; `member` has 100, `admin` 200), `may` (a list of `invite`,
    `update`, `change_roles`, `remove`) and `permissions` for views of the project, such as
    `reports.export`. The three fixed roles take `permissions` alone."""
    max_members: NotNegative[int] = 0
    """Maximum number of members of an organization; 0 means no limit."""
    max_per_user: NotNegative[int] = 50
    """Maximum number of organizations that a user owns, to create another one; 0 means no
    limit."""
    reserved_slugs: tuple[Any, ...] = ("admin", "api", "www", "login", "auth", "static")
    """Slugs that no new organization gets, such as those of your own pages and hosts."""
    metadata_max: MetadataMax = 2048
    """Maximum length of `metadata` in characters."""
    switch_requires_refresh_token: bool = False
    """Whether `POST /org/switch`, and accepting an invitation while signed in, answer a refresh
    token only to a client that sends its current one. A stolen access token is then never worth a
    refresh token. Off by default: some clients send `org_id` alone and use the tokens of the
    response."""
    invitation_ttl: Positive[timedelta] = timedelta(days=7)
    """How long an invitation can be accepted after it was sent, or sent again."""
    invitations_kept: NotNegative[timedelta] = timedelta(days=90)
    """How long an invitation is listed after it was closed or expired, until the cleanup deletes
    it."""


conf = section("ORGANIZATION", Organizations)
