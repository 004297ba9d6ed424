"""What the description says about each operation: what it does, what comes next, and which errors a
front end handles.

All these texts are here and not beside the views, because only the description needs them: a
process that serves requests never imports them. The summary stays with the view. A module of a
project has no text here, and its operations have a summary only.
"""

from __future__ import annotations

import inspect

from authservice.openapi.texts import (
    account,
    administration,
    invitations,
    login,
    organizations,
    signup,
    social_login,
    two_factor,
)
from authservice.openapi.texts.text import Text

TEXTS: dict[str, Text] = {
    **signup.TEXTS,
    **login.TEXTS,
    **account.TEXTS,
    **two_factor.TEXTS,
    **social_login.TEXTS,
    **invitations.TEXTS,
    **organizations.TEXTS,
    **administration.TEXTS,
}
_NONE = Text("")


def description(operation_id: str) -> str:
    """The description of an operation in Markdown, or "" if it has none."""
    return inspect.cleandoc(TEXTS.get(operation_id, _NONE).description)


def answer(operation_id: str) -> str:
    """What the response to a successful request means, or "" if its type says it all."""
    return TEXTS.get(operation_id, _NONE).answer
