"""Two tables: the handles by which authenticators know users, and the public keys of passkeys.

Neither holds a secret: the private key never leaves the device of the user.
"""

from __future__ import annotations

import secrets
from typing import Any, ClassVar
from uuid import UUID

from django.conf import settings
from django.db import models

from authservice.kernel import clock, secret
from authservice.kernel.databases import OfUserManager, PrimaryManager
from authservice.kernel.languages import admin_text as _
from authservice.passkeys.conf import ID_LENGTH, KEY_LENGTH

_DIGEST = 64  # hex characters of a SHA-256
NAME_LENGTH = 64
HANDLE_BYTES = 64


def new_handle() -> str:
    return secret.b64(secrets.token_bytes(HANDLE_BYTES))


class Handle(models.Model):
    """The user handle of WebAuthn: 64 random bytes in base64url.

    Authenticators store it and show it to anybody who holds the device, so it is never the primary
    key or the address of the user (WebAuthn Level 3, section 14.6.1).
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="authservice_passkey_handle",
        verbose_name=_("user"),
    )
    # Base64url of 64 bytes has 86 characters.
    value = models.CharField(max_length=86, default=new_handle, editable=False)

    objects = OfUserManager()

    class Meta:
        verbose_name = _("passkey handle")
        verbose_name_plural = _("passkey handles")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["value"], name="authsvc_passkeyhandle_value"),
        ]

    def __str__(self) -> str:
        return str(self.user_id)

    def natural_key(self) -> tuple[Any, ...]:
        key: tuple[Any, ...] = self.user.natural_key()
        return key

    natural_key.dependencies = [settings.AUTH_USER_MODEL]  # type: ignore[attr-defined]


class PasskeyManager(PrimaryManager["Passkey"]):
    def get_by_natural_key(self, digest: str) -> Passkey:
        return self.get(credential_digest=digest)


class Passkey(models.Model):
    """A passkey or security key of one user.

    `credential_digest` is the SHA-256 of the id. Rows are found by it, since no database has a
    unique index on 1,023 bytes. `public_key` is a COSE key (RFC 9053) in base64url. `verifies` says
    that the passkey logs its user in alone; without it, a passkey is asked for only after the
    password. `second_factor` says that the passkey is asked for after the password. `attested` says
    that the maker of the key has proven its model.
    """

    id = models.UUIDField(primary_key=True, default=clock.uuid7, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="authservice_passkeys",
        verbose_name=_("user"),
    )
    credential_id = models.CharField(max_length=ID_LENGTH, editable=False)
    credential_digest = models.CharField(max_length=_DIGEST, editable=False)
    public_key = models.CharField(max_length=KEY_LENGTH, editable=False)
    counter = models.BigIntegerField(default=0, editable=False)
    transports = models.CharField(
        max_length=64, blank=True, default="", editable=False, verbose_name=_("transports")
    )
    aaguid = models.UUIDField(default=UUID(int=0), editable=False, verbose_name=_("model (AAGUID)"))
    backup_eligible = models.BooleanField(default=False, verbose_name=_("can be backed up"))
    backed_up = models.BooleanField(default=False, verbose_name=_("backed up"))
    name = models.CharField(max_length=NAME_LENGTH, verbose_name=_("name"))
    second_factor = models.BooleanField(default=False, verbose_name=_("second factor"))
    verifies = models.BooleanField(default=False, verbose_name=_("logs in alone"))
    attested = models.BooleanField(default=False, verbose_name=_("attested"))
    created_at = models.DateTimeField(default=clock.now, verbose_name=_("added"))
    last_used_at = models.DateTimeField(null=True, blank=True, verbose_name=_("last used"))

    objects = PasskeyManager()

    class Meta:
        verbose_name = _("passkey")
        verbose_name_plural = _("passkeys")
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["credential_digest"], name="authsvc_passkey_credential"
            ),
        ]
        # For the button of the support page.
        permissions: ClassVar = [("remove_passkey", "Can remove passkeys of users")]

    def __str__(self) -> str:
        return f"{self.name} of {self.user_id}"

    def natural_key(self) -> tuple[str]:
        return (self.credential_digest,)

    natural_key.dependencies = [settings.AUTH_USER_MODEL]  # type: ignore[attr-defined]
