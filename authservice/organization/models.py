"""Four tables: organizations, their members and invitations, and the slugs of former organizations.

Every row of a member is written under the lock of its organization (`access.lock`), so that the
rules about owners and the maximum number of members hold under concurrent requests.
"""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from authservice.core.invitations.models import Invitation
from authservice.kernel import clock
from authservice.kernel.databases import PrimaryManager
from authservice.kernel.languages import admin_text as _
from authservice.organization import roles
from authservice.organization.conf import NAME

SLUG, URL, METADATA = 64, 2048, 2048  # maximum lengths in characters


class Organization(models.Model):
    """An organization. `metadata` is JSON text of the host project. An inactive one behaves as if
    it did not exist."""

    id = models.UUIDField(primary_key=True, default=clock.uuid7, editable=False)
    name = models.CharField(max_length=NAME, verbose_name=_("name"))
    slug = models.CharField(max_length=SLUG, unique=True, verbose_name=_("slug"))
    founder = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="authservice_founded",
        verbose_name=_("founder"),
    )
    logo_url = models.CharField(
        max_length=URL, blank=True, default="", verbose_name=_("address of the logo")
    )
    metadata = models.TextField(blank=True, default="", verbose_name=_("metadata"))
    active = models.BooleanField(default=True, verbose_name=_("active"))
    created_at = models.DateTimeField(default=clock.now, verbose_name=_("created"))
    updated_at = models.DateTimeField(null=True, blank=True, verbose_name=_("changed"))

    objects = PrimaryManager()

    class Meta:
        verbose_name = _("organization")
        verbose_name_plural = _("organizations")
        base_manager_name = "objects"  # so that references to a row read the primary database too

    def __str__(self) -> str:
        return self.slug


class Membership(models.Model):
    """A member of an organization; `role` is a key of `roles.table()`."""

    id = models.UUIDField(primary_key=True, default=clock.uuid7, editable=False)
    organization = models.ForeignKey(
        Organization,
        on_delete=models.CASCADE,
        related_name="memberships",
        verbose_name=_("organization"),
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="authservice_memberships",
        verbose_name=_("user"),
    )
    role = models.CharField(max_length=32, default=roles.DEFAULT, verbose_name=_("role"))
    joined_at = models.DateTimeField(default=clock.now, verbose_name=_("joined"))

    objects = PrimaryManager()

    class Meta:
        verbose_name = _("member of an organization")
        verbose_name_plural = _("members of organizations")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["organization", "user"], name="authsvc_membership_once")
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["organization", "joined_at", "id"], name="authsvc_membership_list"
            ),
            models.Index(fields=["organization", "role", "id"], name="authsvc_membership_role"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} as {self.role} of {self.organization_id}"


class FormerSlug(models.Model):
    """The slug of a deleted or renamed organization, which no other one gets for a while: tokens
    and links with it may still be in use."""

    id = models.BigAutoField(primary_key=True)
    slug = models.CharField(max_length=SLUG)
    retired_at = models.DateTimeField(default=clock.now)

    objects = PrimaryManager()

    class Meta:
        verbose_name = _("former slug")
        verbose_name_plural = _("former slugs")
        indexes: ClassVar = [
            models.Index(fields=["slug", "retired_at"], name="authsvc_formerslug_slug"),
            models.Index(fields=["retired_at"], name="authsvc_formerslug_retired"),
        ]

    def __str__(self) -> str:
        return self.slug


class OrganizationInvitation(Invitation):
    """An invitation to join an organization with a role."""

    TOKEN_PURPOSE = "org-invitation"  # noqa: S105 the name of a purpose, not a secret

    organization = models.ForeignKey(
        Organization, on_delete=models.CASCADE, related_name="+", verbose_name=_("organization")
    )
    role = models.CharField(max_length=32, default=roles.DEFAULT, verbose_name=_("role"))

    class Meta:
        verbose_name = _("invitation to an organization")
        verbose_name_plural = _("invitations to organizations")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["token_digest"], name="authsvc_orginvitation_token"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["organization", "created_at"], name="authsvc_orginvitation_list"),
            models.Index(fields=["email_key", "status"], name="authsvc_orginvitation_email"),
            # For the cleanup.
            models.Index(fields=["closed_at"], name="authsvc_orginvitation_closed"),
            models.Index(fields=["status", "expires_at"], name="authsvc_orginvitation_expires"),
        ]
