"""Permissions for REST views of the host project; use them with `AuthserviceAuthentication`.

permission_classes = [HasOrganizationRole("admin")]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from authservice.core.sessions.authentication import Caller
from authservice.kernel.errors import Fault
from authservice.organization import errors, requests, roles

if TYPE_CHECKING:
    # Its module imports the classes of `DEFAULT_PERMISSION_CLASSES` while it is being loaded.
    from rest_framework.views import APIView


class IsOrganizationMember(BasePermission):
    """The user is a member of the active organization. The request gets `organization` and
    `organization_role`."""

    least: ClassVar[str] = ""
    message = errors.NotAMember.message
    code = errors.NotAMember.code

    def has_permission(self, request: Request, view: APIView) -> bool:
        self._refuse_with(errors.NotAMember())
        # Another authentication class of the view has no token, and so no active organization.
        caller = request.auth if isinstance(request.auth, Caller) else None
        found = requests.membership_of(caller) if caller else None
        requests.keep(request, found)
        requests.keep(request._request, found)
        if found is None:
            return False
        if self.least and not roles.reaches(found.role, self.least):
            self._refuse_with(errors.InsufficientRole())
            return False
        return True

    def _refuse_with(self, fault: Fault) -> None:
        self.message, self.code = fault.text, fault.code


def HasOrganizationRole(least: str) -> type[IsOrganizationMember]:  # noqa: N802 it makes a class
    """The permission of members whose role is `least` or above it in the table of roles. Raises
    `ValueError` for a role that is not in the table."""
    if least not in roles.ROLES:
        raise ValueError(f"{least!r} is not one of the roles {', '.join(roles.ROLES)}.")
    return type("HasOrganizationRole", (IsOrganizationMember,), {"least": least})
