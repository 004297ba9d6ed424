"""Django app of the two-factor module, and the slots that it fills."""

from __future__ import annotations

from importlib.util import find_spec

from django.core.exceptions import ImproperlyConfigured

from authservice.kernel import modules
from authservice.kernel.phrases import admin_text


class TwoFactorConfig(modules.ModuleConfig):
    name = "authservice.twofactor"
    label = "authservice_twofactor"
    verbose_name = admin_text("Two-factor authentication")
    urls = "authservice.twofactor.urls"
    message_builders = "authservice.twofactor.messages.message_builders"
    login_gate = "authservice.twofactor.gate.ask"
    gate_columns = "authservice.twofactor.gate.columns"
    revoke_unverified_access = "authservice.twofactor.disabling.revoke_unverified"
    revoke_recent_factors = "authservice.twofactor.disabling.revoke_recent"
    expired_rows = "authservice.twofactor.disabling.expired_rows"
    second_factor = "authservice.twofactor.second_factor.second_factor"
    import_sources = "authservice.twofactor.importing.sources.import_sources"
    support = "authservice.twofactor.support.support"

    def import_models(self) -> None:
        # A model subclasses one of django-otp, so its import fails before a system check can run.
        missing = [name for name in ("django_otp", "qrcode") if find_spec(name) is None]
        if missing:
            raise ImproperlyConfigured(
                f"authservice.twofactor requires {' and '.join(missing)}:"
                " pip install 'authservice[twofactor]'"
            )
        super().import_models()

    def ready(self) -> None:
        from authservice.twofactor import checks, models, otp

        models.Authenticator.check_code = otp.check_code
        checks.connect()
