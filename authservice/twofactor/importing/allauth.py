"""Factors of django-allauth: the model `Authenticator` of `allauth.mfa`.

Secrets and seeds are decrypted by the adapter of the project (`MFA_ADAPTER`). The settings
`MFA_TOTP_DIGITS` and `MFA_TOTP_PERIOD` apply to all apps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from authservice.kernel.secret import Secret
from authservice.twofactor.importing import seeds
from authservice.twofactor.importing.mfa_table import MfaTable


class AllauthFactors(MfaTable):
    source = "allauth.mfa"
    reads: Sequence[str] = ("mfa.Authenticator",)

    def parameters(self) -> tuple[Any, Any, int]:
        return (
            getattr(settings, "MFA_TOTP_DIGITS", seeds.DIGITS),
            getattr(settings, "MFA_TOTP_PERIOD", seeds.PERIOD),
            int(getattr(settings, "MFA_TOTP_TOLERANCE", 0)),
        )

    def secret(self, row: Any) -> Secret:
        adapter = import_string("allauth.mfa.adapter.get_adapter")()
        # The adapter of a project may return something else than a text, which then fails here.
        return Secret("" + adapter.decrypt(row.data["secret"]))

    def unused(self, row: Any) -> list[Secret]:
        codes = import_string("allauth.mfa.recovery_codes.internal.auth.RecoveryCodes")
        return [Secret(str(code)) for code in codes(row).get_unused_codes()]
