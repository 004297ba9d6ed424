"""The errors of this module, with cause and remedy for the reference in the docs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from authservice.kernel.errors import Fault


class OrganizationNotFound(Fault):
    status = 404
    code = "ORG_NOT_FOUND"
    message = "The organization does not exist."
    cause = "No organization has this id, or it is not active."
    remedy = "List the organizations of the user again with `GET /org/my`."


class NotAMember(Fault):
    status = 403
    code = "ORG_NOT_MEMBER"
    message = "You are not a member of this organization."
    cause = "The caller is not a member of the organization, or was removed from it."
    remedy = "Ask an owner or admin of the organization for an invitation."


class OrganizationNotActive(Fault):
    status = 403
    code = "ORG_NOT_ACTIVE"
    message = "Choose an organization first."
    cause = (
        "A view of the project asks for a member of an organization, and the session of the access"
        " token has no active one. `organizations` has those of the user, at most 100."
    )
    remedy = (
        "Send `org_id` of one of them to `POST /org/switch`, and repeat the request with the new"
        " access token."
    )

    def __init__(self, organizations: Sequence[Mapping[str, str]] = ()) -> None:
        super().__init__()
        self.fields = {"organizations": list(organizations)}


class InsufficientRole(Fault):
    status = 403
    code = "ORG_INSUFFICIENT_ROLE"
    message = "Your role in this organization does not permit this."
    cause = (
        "The role of the caller does not permit the action, or does not manage the role of the"
        " member or the role to give."
    )
    remedy = "Ask a member whose role permits it. The table of roles is in the documentation."


class MemberNotFound(Fault):
    status = 404
    code = "ORG_MEMBER_NOT_FOUND"
    message = "The user is not a member of this organization."
    cause = "No member of the organization has this user id."
    remedy = "List the members again."


class LastOwner(Fault):
    status = 403
    code = "ORG_CANNOT_REMOVE_OWNER"
    message = "The last owner of an organization cannot be removed or demoted."
    cause = "The last owner leaves, is removed or gets another role."
    remedy = "Make another member owner first, or delete the organization."


class SlugTaken(Fault):
    status = 409
    code = "ORG_SLUG_TAKEN"
    message = "This slug is taken or reserved."
    cause = (
        "The `slug` of a new organization is that of another one, of one that was deleted in the"
        " last 72 hours, or one of `ORGANIZATION.RESERVED_SLUGS`."
    )
    remedy = "Choose another slug, or send none: then one is made from the name."


class AlreadyAMember(Fault):
    status = 409
    code = "ORG_MEMBER_EXISTS"
    message = "The user is a member of this organization already."
    cause = "The invited address is that of a member, or the user accepted another invitation."
    remedy = "Change the role of the member instead."


class TooManyMembers(Fault):
    status = 403
    code = "ORG_MAX_MEMBERS"
    message = "The organization has the maximum number of members."
    cause = "The organization has as many members as `ORGANIZATION.MAX_MEMBERS` allows."
    remedy = "Remove a member first. The operator can raise the limit."


class TooManyOrganizations(Fault):
    status = 403
    code = "ORG_MAX_PER_USER"
    message = "You own the maximum number of organizations."
    cause = "The caller owns as many organizations as `ORGANIZATION.MAX_PER_USER` allows."
    remedy = (
        "Delete an organization, or make another member its owner and leave. The operator can raise"
        " the limit."
    )


class OrganizationInUse(Fault):
    status = 409
    code = "ORG_IN_USE"
    message = "The organization cannot be deleted: other records still reference it."
    cause = "A table of the host project references the organization and protects it."
    remedy = "Delete those records first, or ask the operator."
