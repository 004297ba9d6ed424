"""Three tables: the users of providers that are linked to accounts, those whose link was removed,
and links that their user has removed and can restore."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from authservice.kernel import clock
from authservice.kernel.databases import PrimaryManager
from authservice.kernel.languages import admin_text as _

_KEY = 64  # hex characters of a SHA-256


class LinkedAccount(models.Model):
    """A user of a provider, linked to one account; an account has at most one per provider.

    `subject_key` is a digest of `subject`, so that no collation of a database takes two subjects
    for one. `sealed_tokens` are the provider's tokens, encrypted, or "". `at_signup` is true if the
    account was created by this user of the provider.
    """

    id = models.UUIDField(primary_key=True, default=clock.uuid7, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="authservice_linked_accounts",
        verbose_name=_("user"),
    )
    provider = models.CharField(max_length=63, verbose_name=_("provider"))
    subject = models.CharField(max_length=255, verbose_name=_("identifier at the provider"))
    subject_key = models.CharField(max_length=_KEY, editable=False)
    email = models.CharField(
        max_length=254, blank=True, default="", verbose_name=_("e-mail address at the provider")
    )
    at_signup = models.BooleanField(default=False, verbose_name=_("created this account"))
    added_at = models.DateTimeField(default=clock.now, verbose_name=_("linked"))
    sealed_tokens = models.TextField(blank=True, default="", editable=False)

    objects = PrimaryManager()

    class Meta:
        verbose_name = _("linked provider")
        verbose_name_plural = _("linked providers")
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["provider", "subject_key"], name="authsvc_linkedaccount_subject"
            ),
            models.UniqueConstraint(fields=["user", "provider"], name="authsvc_linkedaccount_user"),
        ]

    def __str__(self) -> str:
        return f"{self.provider} of {self.user_id}"


class RemovedLink(models.Model):
    """A user of a provider whose link to the account was removed, by the user, staff or a recovery.

    This user of the provider is never linked to the account by its address again, or a removed
    intruder would come back by the next login. Only the signed-in owner links them again, which
    deletes the row. `subject_digest` is keyed: `key_id` names the key it was made with.
    """

    id = models.UUIDField(primary_key=True, default=clock.uuid7, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="authservice_removed_links",
    )
    provider = models.CharField(max_length=63)
    subject_digest = models.CharField(max_length=_KEY, editable=False)
    key_id = models.CharField(max_length=16, editable=False)
    removed_at = models.DateTimeField(default=clock.now)

    objects = PrimaryManager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["user", "provider", "subject_digest"], name="authsvc_removedlink"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.provider} of {self.user_id}"


class RestorableLink(models.Model):
    """A link as it was when its user removed it: for 72 hours "this was not me" restores it.

    `proven_key` is the key of the address that was proven at the removal, "" if none was, and
    `proven_at` the time of that proof. `recoveries` counts the recoveries since the removal.
    """

    id = models.UUIDField(primary_key=True, default=clock.uuid7, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="authservice_restorable_links",
    )
    provider = models.CharField(max_length=63)
    subject = models.CharField(max_length=255)
    email = models.CharField(max_length=254, blank=True, default="")
    at_signup = models.BooleanField()
    added_at = models.DateTimeField()
    proven_key = models.CharField(max_length=_KEY, blank=True, default="", editable=False)
    proven_at = models.DateTimeField(null=True, blank=True, editable=False)
    removed_at = models.DateTimeField()
    recoveries = models.PositiveSmallIntegerField(default=0, editable=False)

    objects = PrimaryManager()

    def __str__(self) -> str:
        return f"{self.provider} of {self.user_id}"
