"""The slots of a module that trades refresh tokens of another package."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, Protocol

from authservice.kernel.client import Client
from authservice.kernel.secret import Secret


class RefreshTokenTrade(Protocol):
    """Slot `refresh_token_trade`: trades a refresh token of another package for a session, once.

    `cookie` is the name of the cookie in which that package keeps the token, or "".
    """

    @property
    def cookie(self) -> str: ...

    def __call__(self, text: Secret, client: Client) -> Any:
        """The tokens of the session (`core/sessions/sessions.py: Tokens`). Raises
        `InvalidRefreshToken`, also for a token that the package did not issue."""


class RevokeForeignTokens(Protocol):
    """Slot `revoke_foreign_tokens`: revokes the refresh tokens of another package that the users
    with these primary keys could trade for a session, or those of all users; with `before` only
    those issued earlier. Called in the transaction that ends the sessions."""

    def __call__(self, users: Collection[Any] | None, before: datetime | None) -> None: ...
