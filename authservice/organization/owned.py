"""Models of the host project whose rows belong to an organization."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from django.db import models

from authservice.organization.models import Organization


class OwnedQuerySet(models.QuerySet[Any]):
    def of(self, organization: Organization | None) -> Self:
        """The rows of the organization. Without an organization, as in a request of a user who has
        no active one, there are none."""
        return self.filter(organization=organization.pk) if organization else self.none()


class OrganizationOwned(models.Model):
    """A row that belongs to an organization and is deleted with it.

    `objects.of(request.organization)` are the rows that a view may show.
    """

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+")

    objects: ClassVar[Any] = OwnedQuerySet.as_manager()

    class Meta:
        abstract = True
