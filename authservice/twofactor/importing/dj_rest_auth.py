"""Factors of dj-rest-auth: the model `Authenticator` of `dj_rest_auth.mfa`, since version 7.1.

Projects that use `allauth.mfa` with dj-rest-auth have their factors there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from authservice.kernel.secret import Secret
from authservice.twofactor.importing import seeds
from authservice.twofactor.importing.mfa_table import MfaTable

_TOLERANCE = 1  # the package accepts the codes of one step to either side


class DjRestAuthFactors(MfaTable):
    source = "dj_rest_auth.mfa"
    reads: Sequence[str] = ("dj_rest_auth_mfa.Authenticator",)

    def parameters(self) -> tuple[Any, Any, int]:
        return (
            _given("MFA_TOTP_DIGITS", seeds.DIGITS),
            _given("MFA_TOTP_PERIOD", seeds.PERIOD),
            _TOLERANCE,
        )

    def secret(self, row: Any) -> Secret:
        signer = import_string("dj_rest_auth.mfa.totp._signer")
        return Secret(signer.unsign(row.data["secret"]))

    def unused(self, row: Any) -> list[Secret]:
        made = import_string("dj_rest_auth.mfa.recovery_codes.RecoveryCodes")
        count = _given("MFA_RECOVERY_CODE_COUNT", 10)
        codes = [Secret(code) for code in made._generate_codes(row.data["seed"], count)]
        used = int(row.data.get("used_mask", 0))
        return [code for place, code in enumerate(codes) if not used >> place & 1]


def _given(name: str, default: int) -> Any:
    return getattr(settings, "REST_AUTH", {}).get(name, default)
