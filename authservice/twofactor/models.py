"""Three tables: authenticators, their backup codes, and remembered devices.

No table holds a secret in clear text: the secret of an authenticator is sealed, since it must be
read back, and a backup code is stored as a keyed digest.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django_otp.models import Device, DeviceManager

from authservice.kernel import clock
from authservice.kernel.databases import OfUserManager, PrimaryManager
from authservice.kernel.languages import admin_text as _

_KEY = 64  # hex characters of a SHA-256
_AUTHENTICATOR = "authservice_twofactor.authenticator"


class AuthenticatorManager(OfUserManager["Authenticator"], DeviceManager):  # type: ignore[misc]
    """The manager of django-otp, with natural keys."""


class Authenticator(Device):  # type: ignore[misc]
    """An authenticator app, one per user: `confirmed` once the user has entered one of its codes.

    A subclass of django-otp's `Device`, so the middleware, forms and admin site of that package
    work with it. `enrolment` identifies the secret, which every set-up replaces until the app is
    confirmed; `last_step` is the latest time step (RFC 6238) whose code was used; `device_id`
    identifies the known device on which the app was enabled.
    """

    # The function that checks a code. `TwoFactorConfig.ready` sets it: the module that defines it,
    # `authenticators`, imports this module.
    check_code: ClassVar[Callable[[Authenticator, str], bool]]

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="authservice_authenticator",
        verbose_name=_("user"),
    )
    name = models.CharField(max_length=64, default="Authenticator app", editable=False)
    confirmed = models.BooleanField(default=False, verbose_name=_("confirmed"))
    enrolment = models.UUIDField(default=uuid.uuid4, editable=False)
    sealed_secret = models.CharField(max_length=512, editable=False)
    last_step = models.BigIntegerField(default=0, editable=False)
    set_up_at = models.DateTimeField(default=clock.now, verbose_name=_("set up"))
    enabled_at = models.DateTimeField(null=True, blank=True, verbose_name=_("enabled"))
    device_id = models.UUIDField(null=True, blank=True, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True, verbose_name=_("last used"))

    objects = AuthenticatorManager()

    class Meta:
        verbose_name = _("authenticator app")
        verbose_name_plural = _("authenticator apps")
        indexes: ClassVar = [
            models.Index(fields=["confirmed", "set_up_at"], name="authsvc_authenticator_setup")
        ]
        # For the button of the support page.
        permissions: ClassVar = [("disable_authenticator", "Can disable second factors of users")]

    def __str__(self) -> str:
        return f"{self.name} of {self.user_id}"

    def natural_key(self) -> tuple[Any, ...]:
        key: tuple[Any, ...] = self.user.natural_key()
        return key

    natural_key.dependencies = [settings.AUTH_USER_MODEL]  # type: ignore[attr-defined]

    @clock.once
    def verify_token(self, token: str) -> bool:
        """For django-otp's forms: whether the code is valid. A valid code is then used."""
        return type(self).check_code(self, token)


class BackupCodeManager(PrimaryManager["BackupCode"]):
    def get_by_natural_key(self, digest: str) -> BackupCode:
        return self.get(digest=digest)


class BackupCode(models.Model):
    """A code that works once in place of a code of the app; stored as a keyed digest."""

    authenticator = models.ForeignKey(
        Authenticator, on_delete=models.CASCADE, related_name="backup_codes"
    )
    digest = models.CharField(max_length=_KEY, editable=False)
    used_at = models.DateTimeField(null=True, blank=True)

    objects = BackupCodeManager()

    class Meta:
        verbose_name = _("backup code")
        verbose_name_plural = _("backup codes")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["digest"], name="authsvc_backupcode_digest"),
        ]

    def __str__(self) -> str:
        return str(self.pk)

    def natural_key(self) -> tuple[str]:
        return (self.digest,)

    natural_key.dependencies = [_AUTHENTICATOR]  # type: ignore[attr-defined]


class RememberedDeviceManager(PrimaryManager["RememberedDevice"]):
    def get_by_natural_key(self, device_id: str, *key: Any) -> RememberedDevice:
        authenticator = Authenticator.objects.get_by_natural_key(*key)
        return self.get(device_id=device_id, authenticator=authenticator)


class RememberedDevice(models.Model):
    """A known device on which the user entered a code; it needs no further one until `expires_at`.

    It is valid only while the authenticator exists and the password has the stored fingerprint.
    """

    authenticator = models.ForeignKey(
        Authenticator, on_delete=models.CASCADE, related_name="remembered_devices"
    )
    device_id = models.UUIDField()
    password_fingerprint = models.CharField(max_length=_KEY, editable=False)
    expires_at = models.DateTimeField()

    objects = RememberedDeviceManager()

    class Meta:
        verbose_name = _("remembered device")
        verbose_name_plural = _("remembered devices")
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["authenticator", "device_id"], name="authsvc_remembered_device"
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["expires_at"], name="authsvc_remembered_expires")]

    def __str__(self) -> str:
        return str(self.device_id)

    def natural_key(self) -> tuple[Any, ...]:
        return (self.device_id, *self.authenticator.natural_key())

    natural_key.dependencies = [_AUTHENTICATOR]  # type: ignore[attr-defined]
