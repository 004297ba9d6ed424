"""Routes of organizations: the caller's own, a single one, and its members."""

from __future__ import annotations

from functools import partial

from django.http import HttpResponse

from authservice.core.api import responses, token_cookies
from authservice.core.api.endpoint import Endpoint
from authservice.kernel import errors as kernel_errors
from authservice.kernel.http import fields
from authservice.kernel.http.envelope import answer
from authservice.kernel.http.listing import (
    ArrayQuery,
    array,
    array_page,
    array_part,
    counted,
    without_empty,
)
from authservice.kernel.http.operations import carries, operation
from authservice.kernel.languages import phrase
from authservice.organization import access, active, errors, members, organizations, serializers
from authservice.organization.serializers import (
    ListQuery,
    MembersQuery,
    OrganizationChangesIn,
    OrganizationIn,
    RoleIn,
    SwitchIn,
)

# What every route below /org/{orgId} may refuse.
SCOPED = (errors.OrganizationNotFound, errors.NotAMember, errors.InsufficientRole)
_CHANGES = (*SCOPED, errors.LastOwner, errors.MemberNotFound)


@carries("Set-Cookie")
class SwitchedTokens(responses.ContinuedTokens):
    """Tokens of the same session; the access token has the claims of the organization. The refresh
    token is a new one if the client sent its current one, otherwise the current one, or absent if
    the service withholds it."""

    message: str


class Organizations(Endpoint):
    path = "org"
    route = "org"

    @operation(
        "POST",
        body=OrganizationIn,
        answer=serializers.Organization,
        status=201,
        faults=(kernel_errors.Forbidden, errors.SlugTaken, errors.TooManyOrganizations),
        id="createOrganization",
        answered="The new organization.",
    )
    def create(self) -> HttpResponse:
        """Create an organization

        Creates an organization whose owner is the signed-in user. Without `slug` one is made from
        the name. The session does not change to the new organization: call `POST /org/switch` for
        that.

        409 `ORG_SLUG_TAKEN`: the slug that was sent is taken or reserved; that of an organization
        is reserved for 72 hours after its deletion. 403 `ORG_MAX_PER_USER`: the user owns as many
        organizations as the service allows. 403 `FORBIDDEN`: this user may not create any. 429
        `TOO_MANY_REQUESTS`: an account creates at most 20 an hour.
        """
        values = self.read(OrganizationIn)
        caller = self.identity
        created = organizations.create(caller.person, caller.session, self.client, **values)
        return answer(serializers.organization(created), status=201)


class OwnOrganizations(Endpoint):
    path = "org/my"
    route = "org-my"

    @operation(
        "GET",
        query=ArrayQuery,
        answer=counted(list[serializers.Organization]),
        id="listOwnOrganizations",
    )
    def find(self) -> HttpResponse:
        """List the organizations of the caller

        The organizations of which the signed-in user is a member, for a menu to switch between
        them. `limit` is 100 at most and by default; `X-Total-Count` is the number of
        all.
        """
        rows = organizations.joined_by(self.identity.person.user.pk)
        page = array_part(self.request.GET)
        rows_of_page = list(page.cut(rows))
        return array(
            [serializers.organization(row) for row in rows_of_page],
            page.total(rows_of_page, rows.count),
        )


class Switch(Endpoint):
    path = "org/switch"
    route = "org-switch"

    @operation(
        "POST",
        body=SwitchIn,
        answer=SwitchedTokens,
        faults=(*SCOPED, kernel_errors.InvalidRefreshToken),
        id="switchOrganization",
    )
    def switch(self) -> HttpResponse:
        """Make an organization the active one of the session

        Makes an organization the active one of this session: the access token has the claims
        `org_id`, `org_slug` and `org_role`. Other sessions of the user do not change, and a new
        login begins without an active organization.

        Send the current `refresh_token` too. It is replaced, as by `POST /refresh`; store both
        tokens of the response. Without it no refresh token is replaced: the response repeats the
        current one, or has none if the service withholds it. The client may keep its own; the next
        refresh has the claims.

        401 `INVALID_REFRESH_TOKEN`: the `refresh_token` is not the current one of this session, and
        nothing has changed. 403 `ORG_NOT_MEMBER` and 404 `ORG_NOT_FOUND`: read `GET /org/my` again.
        """
        values = self.read(SwitchIn)
        caller = self.identity
        switch = partial(
            active.switch, caller.person, caller.session, self.client, values["org_id"]
        )
        issued = token_cookies.continuing(self, values["refresh_token"], switch)
        body: SwitchedTokens = {
            **responses.continued(issued),
            "message": phrase("Organization switched."),
        }
        return responses.issue(body, issued)


class Organization(Endpoint):
    path = "org/<str:org_id>"
    route = "org-one"
    strict_actions = frozenset({"delete"})

    @operation("GET", answer=serializers.OrganizationOfMember, faults=SCOPED, id="getOrganization")
    def show(self, org_id: str) -> HttpResponse:
        """Show an organization

        One organization of the signed-in user. It need not be the active one of the session. Show
        only the buttons that `may` and `manages` permit: both depend on the role of the user.

        403 `ORG_NOT_MEMBER`: the caller is not a member of the organization. 403
        `ORG_INSUFFICIENT_ROLE`: the role of the caller does not allow it. 404 `ORG_NOT_FOUND`: it
        does not exist or is not active.
        """
        return answer(serializers.organization_of_member(access.find(org_id, self.identity.person)))

    @operation(
        "PUT",
        body=OrganizationChangesIn,
        answer=serializers.Organization,
        faults=SCOPED,
        id="updateOrganization",
        answered="The organization after the change.",
    )
    def change(self, org_id: str) -> HttpResponse:
        """Change an organization

        Changes `name`, `logo_url` and `metadata` (JSON text); at least one of them must be sent.
        The slug never changes.

        403 `ORG_NOT_MEMBER`: the caller is not a member of the organization. 403
        `ORG_INSUFFICIENT_ROLE`: the role of the caller does not allow it. 404 `ORG_NOT_FOUND`: it
        does not exist or is not active.
        """
        changes = self.read(OrganizationChangesIn)
        caller = self.identity
        if not changes:
            raise kernel_errors.ValidationFailed(
                phrase("At least one field to change is required.")
            )
        changed = organizations.update(caller.person, caller.session, self.client, org_id, changes)
        return answer(serializers.organization(changed))

    @operation(
        "DELETE",
        answer=responses.MessageResponse,
        faults=(*SCOPED, errors.OrganizationInUse),
        id="deleteOrganization",
        answered="The organization was deleted.",
    )
    def delete(self, org_id: str) -> HttpResponse:
        """Delete an organization permanently

        Deletes an organization with its memberships and invitations, permanently. Only owners may.
        Ask for a confirmation before. Accounts of members stay, and their access tokens have the
        claims of the organization until the next refresh.

        403 `ORG_NOT_MEMBER`: the caller is not a member of the organization. 403
        `ORG_INSUFFICIENT_ROLE`: the role of the caller does not allow it. 404 `ORG_NOT_FOUND`: it
        does not exist or is not active.

        409 `ORG_IN_USE`: other data of the project needs the organization.
        """
        caller = self.identity
        organizations.delete(caller.person, caller.session, self.client, org_id)
        return responses.message_response(phrase("Organization deleted."))


class Members(Endpoint):
    path = "org/<str:org_id>/members"
    route = "org-members"

    @operation(
        "GET",
        query=MembersQuery,
        answer=counted(list[serializers.Member]),
        faults=SCOPED,
        id="listMembers",
    )
    def find(self, org_id: str) -> HttpResponse:
        """List the members of an organization

        The members with their roles and users. Every member may read it. `limit` is 100 at most and
        by default; `X-Total-Count` is the number of all. `query` is a part of a name, a username or
        an address.

        403 `ORG_NOT_MEMBER`: the caller is not a member of the organization. 403
        `ORG_INSUFFICIENT_ROLE`: the role of the caller does not allow it. 404 `ORG_NOT_FOUND`: it
        does not exist or is not active.
        """
        query = without_empty(self.request.GET)
        page = array_page(query, members.SORT_FIELDS)
        text = fields.read(ListQuery, query)["query"]
        actor = access.find(org_id, self.identity.person)
        rows, total = members.page_of(actor.organization, page, text)
        return array([serializers.member(row, person) for row, person in rows], total)


class Member(Endpoint):
    path = "org/<str:org_id>/members/<str:user_id>"
    route = "org-member"
    strict_in_part = frozenset({"change", "remove"})

    @operation(
        "GET",
        answer=serializers.Member,
        faults=(*SCOPED, errors.MemberNotFound),
        id="getMember",
    )
    def show(self, org_id: str, user_id: str) -> HttpResponse:
        """Show a member of an organization

        One member with the role and the user.

        403 `ORG_NOT_MEMBER`: the caller is not a member of the organization. 403
        `ORG_INSUFFICIENT_ROLE`: the role of the caller does not allow it. 404 `ORG_NOT_FOUND`: it
        does not exist or is not active.

        404 `ORG_MEMBER_NOT_FOUND`: the user is not a member.
        """
        actor = access.find(org_id, self.identity.person)
        return answer(serializers.member(*members.get(actor.organization, user_id)))

    @operation(
        "PUT",
        body=RoleIn,
        answer=responses.MessageResponse,
        faults=_CHANGES,
        id="changeMemberRole",
        answered="The member has the new role.",
    )
    def change(self, org_id: str, user_id: str) -> HttpResponse:
        """Change the role of a member

        Gives a member another `role`. Only owners make owners, and only owners change them. To
        transfer an organization, make another member owner and then leave.

        403 `ORG_CANNOT_REMOVE_OWNER`: the last owner must stay one. The new role applies at once
        here, and in claims from the next refresh of that member on.

        403 `ORG_NOT_MEMBER`: the caller is not a member of the organization. 403
        `ORG_INSUFFICIENT_ROLE`: the role of the caller does not allow it. 404 `ORG_NOT_FOUND`: it
        does not exist or is not active.
        """
        role = self.read(RoleIn)["role"]
        caller = self.identity
        prove = self.require_proven_if_strict
        arguments = (caller.person, caller.session, self.client, org_id, user_id, role)
        members.change_role(*arguments, prove=prove)
        return responses.message_response(phrase("Role changed."))

    @operation(
        "DELETE",
        answer=responses.MessageResponse,
        faults=_CHANGES,
        id="removeMember",
        answered="The user is no longer a member.",
    )
    def remove(self, org_id: str, user_id: str) -> HttpResponse:
        """Remove a member, or leave the organization

        Removes a member, or lets the signed-in user leave with the own id. The account stays;
        access to the organization ends at once.

        403 `ORG_CANNOT_REMOVE_OWNER`: the last owner cannot leave. Make another member owner first,
        or delete the organization.

        403 `ORG_NOT_MEMBER`: the caller is not a member of the organization. 403
        `ORG_INSUFFICIENT_ROLE`: the role of the caller does not allow it. 404 `ORG_NOT_FOUND`: it
        does not exist or is not active.
        """
        caller = self.identity
        arguments = (caller.person, caller.session, self.client, org_id, user_id)
        members.remove(*arguments, prove=self.require_proven_if_strict)
        return responses.message_response(phrase("Member removed."))
