"""What the provider says about its users."""

from __future__ import annotations

from typing import Any

from oauth2_provider.oauth2_validators import OAuth2Validator

# The claims of each user by subject, which is the username.
CLAIMS: dict[str, dict[str, Any]] = {}


class Validator(OAuth2Validator):
    def get_additional_claims(self, request: Any) -> dict[str, Any]:
        subject = request.user.get_username()
        return {"sub": subject, **CLAIMS[subject]}
