"""Permissions for REST views of the host project; use them with `AuthserviceAuthentication`.

permission_classes = [HasOrganizationRole("admin")]
permission_classes = [HasOrganizationPermission("reports.export")]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from authservice.core.sessions.bearer import Caller
from authservice.kernel.errors import Fault, InvalidToken
from authservice.organization import requests, roles
from authservice.organization.models import Membership

if TYPE_CHECKING:
    # Not at run time: `rest_framework.views` imports the classes of `DEFAULT_PERMISSION_CLASSES`
    # while it is loaded, and these classes may be among them.
    from rest_framework.views import APIView


class IsOrganizationMember(BasePermission):
    """The user is a member of the active organization. The request gets `organization` and
    `organization_role`."""

    least: ClassVar[str] = ""
    permission: ClassVar[str] = ""

    def has_permission(self, request: Request, view: APIView) -> bool:
        caller = request.auth if isinstance(request.auth, Caller) else None
        self._keep(request, None)
        try:
            member = requests.require_member(caller)
            self._keep(request, member)
            requests.require_role(member, least=self.least, permission=self.permission)
        except Fault as fault:
            # Only an error with 401 raises: after another refusal, another permission of the view
            # may be sufficient.
            self.message = {"detail": fault.text, "code": fault.code, **fault.fields}
            self.code = fault.code
            if fault.status == InvalidToken.status:
                raise AuthenticationFailed(self.message, code=fault.code) from fault
            return False
        return True

    def _keep(self, request: Request, member: Membership | None) -> None:
        requests.keep(request, member)
        requests.keep(request._request, member)


def HasOrganizationRole(least: str) -> type[IsOrganizationMember]:  # noqa: N802 it makes a class
    """The permission of members whose role is `least` or ranks above it. Raises `ValueError` for a
    role that is not in the table."""
    roles.require(least)
    return type("HasOrganizationRole", (IsOrganizationMember,), {"least": least})


def HasOrganizationPermission(permission: str) -> type[IsOrganizationMember]:  # noqa: N802 as above
    """The permission of members whose role grants `permission`, such as `reports.export`. Raises
    `ValueError` for a permission that `ORGANIZATION.ROLES` gives to no role."""
    roles.require_granted(permission)
    return type("HasOrganizationPermission", (IsOrganizationMember,), {"permission": permission})
