"""What several routes of this module answer: the errors, and the fields of a login."""

from __future__ import annotations

from typing import Any

from authservice.core.login import login
from authservice.kernel.phrases import phrase
from authservice.oauth import errors
from authservice.oauth.sign_in import SignedIn

DONE = phrase("Signed in.")
PROVIDER_FAULTS = (errors.ProviderNotFound, errors.ProviderDisabled)
LOGIN_FAULTS = (
    errors.AccountLinkingDisabled,
    errors.AlreadyLinked,
    errors.EmailRequired,
    errors.EmailTaken,
    errors.SignupByProviderDisabled,
    errors.TokenExchangeRefused,
    errors.UserInfoUnavailable,
    errors.InvalidState,
    errors.StateExpired,
    errors.StateUsed,
    *login.REFUSALS,
)


def further_fields(result: SignedIn) -> dict[str, Any]:
    """The fields that the response of such a login has in addition to those of every login."""
    return {
        "token_type": "Bearer",
        "is_new_user": result.is_new_user,
        "provider": result.provider,
    }
