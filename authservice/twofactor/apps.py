"""Django app of the two-factor module, and the slots that it fills."""

from __future__ import annotations

from importlib.util import find_spec

from django.core.exceptions import ImproperlyConfigured

from authservice.kernel import modules
from authservice.kernel.actions import ANYBODY, SYSTEM, USER, WARNING, Action
from authservice.kernel.languages import admin_text


class TwoFactorConfig(modules.ModuleConfig):
    name = "authservice.twofactor"
    label = "authservice_twofactor"
    verbose_name = admin_text("Two-factor authentication")
    views = "authservice.twofactor.views"
    message_builders = "authservice.twofactor.enrolment.message_builders"
    expired_rows = "authservice.twofactor.enrolment.expired_rows"
    second_factor = "authservice.twofactor.verify_login.second_factor"
    support = "authservice.twofactor.support.support"
    examinations = ("authservice.twofactor.examinations.examine_secrets",)

    actions = {
        "auth.2fa.enabled": Action(
            "Two-factor authentication was turned on.",
            actors=(USER, SYSTEM),
            when="A user confirms a second factor with its first code, or an import adds one (actor"
            " `system`).",
        ),
        "auth.2fa.disabled": Action(
            "Two-factor authentication was turned off.",
            WARNING,
            actors=ANYBODY,
            when="A factor is removed by its user, by staff, by a command or by a recovery"
            " (`reason`).",
        ),
        "auth.2fa.verified": Action(
            "A second factor was verified.", when="A code or backup code is accepted."
        ),
        "auth.2fa.failed": Action(
            "A second factor was refused.", WARNING, when="A code or backup code is wrong."
        ),
        "auth.2fa.backup_used": Action(
            "A backup code was used.",
            WARNING,
            when="A backup code is accepted. Recorded in addition to `auth.2fa.verified`.",
        ),
        "auth.2fa.backup_regenerated": Action(
            "The backup codes were replaced.",
            when="A user requests new backup codes. The old ones are deleted.",
        ),
    }

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
        from authservice.twofactor import authenticators, models

        # The model cannot import it: `authenticators` imports the models.
        models.Authenticator.check_code = authenticators.check_code
