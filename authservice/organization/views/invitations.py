"""Routes of invitations to organizations. No response contains a token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from django.http import HttpResponse

from authservice.core.api import responses
from authservice.core.api.authentication import caller_to_continue
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.link_endpoint import FormEndpoint, ToConfirm
from authservice.core.api.responses import Authenticated, Challenged
from authservice.core.api.serializers import (
    AcceptInvitationIn,
    DeclineInvitationIn,
    InvitationLinkIn,
)
from authservice.core.invitations import acceptance
from authservice.core.invitations.acceptance import Profile
from authservice.kernel import errors
from authservice.kernel.http import fields
from authservice.kernel.http.envelope import answer, utc
from authservice.kernel.http.listing import array, array_page, counted, given
from authservice.kernel.http.operations import Moment, Uuid, carries, operation
from authservice.kernel.phrases import phrase
from authservice.kernel.secret import Secret
from authservice.organization import access, answering, invitations
from authservice.organization.errors import AlreadyAMember, TooManyMembers
from authservice.organization.models import OrganizationInvitation
from authservice.organization.roles import Permission
from authservice.organization.serializers import (
    InvitationIn,
    InvitationsFilter,
    InvitationsQuery,
    OwnInvitationsQuery,
)
from authservice.organization.views import shapes
from authservice.organization.views.organizations import SCOPED

_CLOSED = (errors.InvitationNotFound, errors.InvitationNotPending)
_REFUSED = (
    *SCOPED,
    AlreadyAMember,
    TooManyMembers,
    errors.EmailNotConfigured,
    errors.InvitationAlreadyExists,
)


class OrgInvitation(TypedDict):
    """An invitation to an organization. `status` is pending, accepted, declined, cancelled or
    expired."""

    id: Uuid
    org_id: Uuid
    email: str
    role: str
    inviter_id: str
    status: str
    expires_at: Moment
    created_at: Moment


class InvitingOrganization(TypedDict):
    """An organization that invites the user, who cannot read it yet."""

    name: str
    slug: str
    logo_url: str


class ReceivedOrgInvitation(OrgInvitation):
    """An invitation as its recipient sees it."""

    organization: InvitingOrganization


@carries("X-Device-Token", "Set-Cookie")
class OrgInvitationAccepted(Authenticated):
    """The tokens of the user who accepted and the new membership; `is_new_user` says whether the
    account is new."""

    member: shapes.MemberRow
    is_new_user: bool


class Invite(Endpoint):
    @operation(
        "Invite an e-mail address to an organization",
        body=InvitationIn,
        answer=OrgInvitation,
        status=201,
        faults=_REFUSED,
        id="inviteMember",
    )
    def create(self, org_id: str) -> HttpResponse:
        wanted, caller = self.read(InvitationIn), self.identity
        sent = invitations.invite(caller.person, caller.session, self.client, org_id, **wanted)
        return answer(_invitation(sent), status=201)


class Invitations(Endpoint):
    @operation(
        "List the invitations of an organization",
        query=InvitationsQuery,
        answer=counted(list[OrgInvitation]),
        faults=SCOPED,
        id="listOrgInvitations",
    )
    def find(self, org_id: str) -> HttpResponse:
        query = given(self.request.GET)
        wanted = array_page(query, invitations.SORT_FIELDS)
        filters = fields.read(InvitationsFilter, query)
        actor = access.find(org_id, self.identity.person, Permission.INVITE)
        found, total = invitations.page_of(actor.organization, wanted, **filters)
        return array([_invitation(row) for row in found], total)


class OneInvitation(Endpoint):
    @operation(
        "Cancel a pending invitation to an organization",
        answer=responses.MessageResponse,
        faults=(*SCOPED, *_CLOSED),
        id="cancelOrgInvitation",
    )
    def cancel(self, org_id: str, invitation_id: str) -> HttpResponse:
        caller = self.identity
        invitations.cancel(caller.person, caller.session, self.client, org_id, invitation_id)
        return responses.message_response(phrase("The invitation was cancelled."))


class Resend(Endpoint):
    @operation(
        "Send an invitation to an organization again, with a new link and expiry",
        answer=OrgInvitation,
        faults=(*_REFUSED, *_CLOSED),
        id="resendOrgInvitation",
    )
    def resend(self, org_id: str, invitation_id: str) -> HttpResponse:
        caller = self.identity
        sent = invitations.resend(caller.person, caller.session, self.client, org_id, invitation_id)
        return answer(_invitation(sent))


class OwnInvitations(Endpoint):
    @operation(
        "List the pending invitations to organizations for the user's address",
        query=OwnInvitationsQuery,
        answer=counted(list[ReceivedOrgInvitation]),
        id="listOwnOrgInvitations",
    )
    def find(self) -> HttpResponse:
        query = given(self.request.GET)
        wanted = array_page(query, invitations.SORT_FIELDS)
        found, total = invitations.pending_for(self.identity.person, wanted)
        return array([_received(row) for row in found], total)


class Accept(FormEndpoint):
    """The link of the mail leads here if the project has no front end."""

    route = "org-invitation-accept"
    typed = ("name",)
    public = True

    @operation(
        "Show the page of an invitation to an organization",
        query=InvitationLinkIn,
        answer=ToConfirm | None,
        page="A browser gets a page with a form.",
        faults=(*_CLOSED, errors.InvitationExpired),
        id="showOrgInvitation",
    )
    def show(self) -> HttpResponse:
        return self.show_form(self.read_query(InvitationLinkIn))

    def known(self, given: Mapping[str, Secret]) -> Mapping[str, Any]:
        return answering.describe(given["token"], self.client)

    @operation(
        "Accept an invitation to an organization with the token of its mail, and sign in",
        body=AcceptInvitationIn,
        answer=OrgInvitationAccepted | Challenged,
        faults=(*acceptance.REFUSALS, AlreadyAMember, TooManyMembers),
        id="acceptOrgInvitation",
    )
    def accept(self) -> HttpResponse:
        read = self.read(AcceptInvitationIn)
        accepted = answering.accept(
            read["token"],
            Profile(name=read["name"], password=read["password"]),
            self.client,
            caller=caller_to_continue(self.request),
        )
        more = {
            "member": shapes.membership(accepted.joined),
            "is_new_user": accepted.is_new_user,
        }
        return responses.login(accepted.login, message=phrase("Invitation accepted."), more=more)


class Decline(Endpoint):
    public = True

    @operation(
        "Decline an invitation to an organization with the token of its mail",
        body=DeclineInvitationIn,
        faults=(*_CLOSED, errors.InvitationExpired),
        id="declineOrgInvitation",
    )
    def decline(self) -> HttpResponse:
        answering.decline(self.read(DeclineInvitationIn)["token"], self.client)
        return answer()


def _invitation(row: OrganizationInvitation) -> OrgInvitation:
    return {
        "id": str(row.pk),
        "org_id": str(row.organization_id),
        "email": row.email,
        "role": row.role,
        "inviter_id": str(row.inviter_id),
        "status": row.current_status,
        "expires_at": utc(row.expires_at),
        "created_at": utc(row.created_at),
    }


def _received(row: OrganizationInvitation) -> ReceivedOrgInvitation:
    found = row.organization
    shown: InvitingOrganization = {
        "name": found.name,
        "slug": found.slug,
        "logo_url": found.logo_url,
    }
    return {**_invitation(row), "organization": shown}
