from django.db import models

from authservice.organization.owned import OrganizationOwned


class Project(OrganizationOwned):
    name = models.CharField(max_length=100)

    def __str__(self) -> str:
        return self.name
