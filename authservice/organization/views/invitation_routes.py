"""Routes of invitations to organizations. No response contains a token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict, cast

from django.http import HttpResponse

from authservice.core import errors
from authservice.core.api import responses, token_cookies
from authservice.core.api.callers import caller_to_continue, signed_in_user
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.link_endpoint import FormEndpoint, ToConfirm
from authservice.core.api.responses import Challenged, Entered, InvitationStatus
from authservice.core.api.serializers import (
    AcceptInvitationIn,
    DeclineInvitationIn,
    InvitationLinkIn,
)
from authservice.core.invitations import acceptance, mailing
from authservice.core.invitations.acceptance import Accepted, Profile
from authservice.kernel.http import fields
from authservice.kernel.http.envelope import answer, utc
from authservice.kernel.http.listing import array, array_page, counted, without_empty
from authservice.kernel.http.operations import Moment, carries, operation
from authservice.kernel.languages import phrase
from authservice.kernel.secret import Secret
from authservice.organization import access, invitations, serializers
from authservice.organization.errors import AlreadyAMember, TooManyMembers
from authservice.organization.models import Membership, OrganizationInvitation
from authservice.organization.roles import Permission
from authservice.organization.serializers import (
    InvitationIn,
    InvitationsFilter,
    InvitationsQuery,
    OwnInvitationsQuery,
)
from authservice.organization.views.organization_routes import SCOPED

# What a route of a single invitation may refuse.
_CLOSED = (errors.InvitationNotFound, errors.InvitationNotPending)
# What a route that sends an invitation may refuse.
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

    id: str
    org_id: str
    email: str
    role: serializers.Role
    inviter_id: str
    status: InvitationStatus
    expires_at: Moment
    created_at: Moment


class SentOrgInvitation(OrgInvitation):
    """`mailed` is false, and `message` says so, if the recipient gets no more mails today."""

    mailed: bool
    message: NotRequired[str]


class InvitingOrganization(TypedDict):
    """An organization that invites the user, who cannot read it yet."""

    name: str
    slug: str
    logo_url: str


class ReceivedOrgInvitation(OrgInvitation):
    """An invitation as its recipient sees it."""

    organization: InvitingOrganization


@carries("X-Device-Token", "Set-Cookie")
class OrgInvitationAccepted(Entered):
    """The tokens of the user who accepted and the new membership; `is_new_user` says whether the
    account is new."""

    member: serializers.Membership
    is_new_user: bool


class Invite(Endpoint):
    path = "org/<str:org_id>/invite"
    route = "org-invite"
    strict_in_part = frozenset({"create"})

    @operation(
        "POST",
        body=InvitationIn,
        answer=SentOrgInvitation,
        status=201,
        faults=_REFUSED,
        id="inviteMember",
        answered="The invitation, which is pending. Its token is in the mail only.",
    )
    def create(self, org_id: str) -> HttpResponse:
        """Invite an e-mail address to an organization

        Mails an invitation with a link to the page of the front end, which is valid for 7 days
        unless the service sets another time. `role` is at most one that the caller may manage, and
        `member` without it.

        409 `ORG_MEMBER_EXISTS`: the address belongs to a member. 409 `INVITATION_ALREADY_EXISTS`:
        send the pending one again. 403 `ORG_MAX_MEMBERS`: the organization is full. A user can send
        50 invitations a day, and one mail a day to each address (429 `TOO_MANY_REQUESTS`).

        403 `ORG_NOT_MEMBER`: the caller is not a member of the organization. 403
        `ORG_INSUFFICIENT_ROLE`: the role of the caller does not allow it. 404 `ORG_NOT_FOUND`: it
        does not exist or is not active.
        """
        values = self.read(InvitationIn)
        caller = self.identity
        invitation, mailed = invitations.invite(
            caller.person,
            caller.session,
            self.client,
            org_id,
            **values,
            prove=self.require_proven_if_strict,
        )
        return answer(_sent(invitation, mailed=mailed), status=201)


class Invitations(Endpoint):
    path = "org/<str:org_id>/invitations"
    route = "org-invitations"

    @operation(
        "GET",
        query=InvitationsQuery,
        answer=counted(list[OrgInvitation]),
        faults=SCOPED,
        id="listOrgInvitations",
    )
    def find(self, org_id: str) -> HttpResponse:
        """List the invitations of an organization

        All invitations of the organization, of every status, newest first. Filter by `status`, and
        by `query`, a part of the address. `limit` is 100 at most and by default; `X-Total-Count` is
        the number of all.

        403 `ORG_NOT_MEMBER`: the caller is not a member of the organization. 403
        `ORG_INSUFFICIENT_ROLE`: the role of the caller does not allow it. 404 `ORG_NOT_FOUND`: it
        does not exist or is not active.
        """
        query = without_empty(self.request.GET)
        page = array_page(query, invitations.SORT_FIELDS)
        filters = fields.read(InvitationsFilter, query)
        actor = access.find(org_id, self.identity.person, Permission.INVITE)
        rows, total = invitations.page_of(actor.organization, page, **filters)
        return array([_invitation(row) for row in rows], total)


class OneInvitation(Endpoint):
    path = "org/<str:org_id>/invitations/<str:invitation_id>"
    route = "org-invitation"

    @operation(
        "DELETE",
        answer=responses.MessageResponse,
        faults=(*SCOPED, *_CLOSED),
        id="cancelOrgInvitation",
        answered="The invitation was cancelled.",
    )
    def cancel(self, org_id: str, invitation_id: str) -> HttpResponse:
        """Cancel a pending invitation to an organization

        Cancels a pending invitation; its link is refused from now on. 400 `INVITATION_NOT_PENDING`:
        it was answered before.

        403 `ORG_NOT_MEMBER`: the caller is not a member of the organization. 403
        `ORG_INSUFFICIENT_ROLE`: the role of the caller does not allow it. 404 `ORG_NOT_FOUND`: it
        does not exist or is not active.
        """
        caller = self.identity
        invitations.cancel(caller.person, caller.session, self.client, org_id, invitation_id)
        return responses.message_response(phrase("The invitation was cancelled."))


class Resend(Endpoint):
    path = "org/<str:org_id>/invitations/<str:invitation_id>/resend"
    route = "org-invitation-resend"
    strict_in_part = frozenset({"resend"})

    @operation(
        "POST",
        answer=SentOrgInvitation,
        faults=(*_REFUSED, *_CLOSED),
        id="resendOrgInvitation",
        answered="The invitation with its new expiry.",
    )
    def resend(self, org_id: str, invitation_id: str) -> HttpResponse:
        """Send an invitation to an organization again, with a new link and expiry

        Mails a pending or expired invitation again: with a new link and a new expiry, while the
        former link is refused. The caller becomes its inviter. If the address gets no more mails
        today, `mailed` is false, nothing is sent, and the former link stays valid. The same errors
        as for `POST /org/{org_id}/invite`; 400 `INVITATION_NOT_PENDING`: it was answered or
        cancelled, or its role does not exist any more.

        403 `ORG_NOT_MEMBER`: the caller is not a member of the organization. 403
        `ORG_INSUFFICIENT_ROLE`: the role of the caller does not allow it. 404 `ORG_NOT_FOUND`: it
        does not exist or is not active.
        """
        caller = self.identity
        arguments = (caller.person, caller.session, self.client, org_id, invitation_id)
        invitation, mailed = invitations.resend(*arguments, prove=self.require_proven_if_strict)
        return answer(_sent(invitation, mailed=mailed))


class OwnInvitations(Endpoint):
    path = "org/my/invitations"
    route = "org-my-invitations"

    @operation(
        "GET",
        query=OwnInvitationsQuery,
        answer=counted(list[ReceivedOrgInvitation]),
        id="listOwnOrgInvitations",
    )
    def find(self) -> HttpResponse:
        """List the pending invitations to organizations for the user's address

        The pending invitations to organizations for the address of the signed-in user, verified or
        not. They are accepted with the link of the mail only, because no response contains a token.
        """
        query = without_empty(self.request.GET)
        page = array_page(query, invitations.SORT_FIELDS)
        rows, total = invitations.pending_for(self.identity.person, page)
        received: list[ReceivedOrgInvitation] = [
            {
                **_invitation(row),
                "organization": {
                    "name": row.organization.name,
                    "slug": row.organization.slug,
                    "logo_url": row.organization.logo_url,
                },
            }
            for row in rows
        ]
        return array(received, total)


class Accept(FormEndpoint):
    """The link of the mail leads here if the project has no front end."""

    path = "org/invitations/accept"
    route = "org-invitation-accept"
    typed = ("name",)
    public = True

    @operation(
        "POST",
        body=AcceptInvitationIn,
        answer=OrgInvitationAccepted | Challenged,
        faults=(*acceptance.REFUSALS, AlreadyAMember, TooManyMembers),
        id="acceptOrgInvitation",
    )
    def accept(self) -> HttpResponse:
        """Accept an invitation to an organization with the token of its mail, and sign in

        Accepts an invitation with the `token` of its link, and signs the user in. If the address
        has no account, `password` and `name` create one, also where the sign-up is closed. A client
        that is signed in to the account of this address keeps its session and its active
        organization. It sends its `refresh_token` too, as with `POST /org/switch`.

        The response is that of a login, with `member` and `is_new_user`, or the challenge of a
        second factor; the user has joined by then. 404 `INVITATION_NOT_FOUND`, 400
        `INVITATION_EXPIRED` and `INVITATION_NOT_PENDING`: ask the sender for another invitation.
        403 `ORG_MAX_MEMBERS`: the organization is full. 409 `ORG_MEMBER_EXISTS`: the user is a
        member already.
        """
        values = self.read(AcceptInvitationIn)
        # A `caller` has tokens, and continues their session. A `visitor` is signed in otherwise,
        # such as by Django's session on a page.
        caller = caller_to_continue(self.request)
        visitor = None if caller else signed_in_user(self.request)

        # Called with the refresh token of the body or of the cookie.
        def accept(refresh_token: Secret) -> Accepted[Membership]:
            return invitations.accept(
                values["token"],
                Profile(name=values["name"], password=values["password"]),
                self.client,
                caller=caller,
                visitor=visitor,
                refresh_token=refresh_token,
            )

        accepted = token_cookies.continuing(self, values["refresh_token"], accept)
        further_data = {
            "member": serializers.membership(accepted.joined),
            "is_new_user": accepted.is_new_user,
        }
        return responses.login(
            accepted.login, message=phrase("Invitation accepted."), more=further_data
        )

    @operation(
        "GET",
        query=InvitationLinkIn,
        answer=ToConfirm | None,
        page="A browser gets a page with a form.",
        faults=(*_CLOSED, errors.InvitationExpired),
        id="showOrgInvitation",
    )
    def show(self) -> HttpResponse:
        """Show the page of an invitation to an organization

        The page of an invitation, for services without a front end. A browser gets a form, which
        sends `POST /org/invitations/accept`. Opening it accepts nothing. Other clients get `status`
        `confirm`.
        """
        return self.show_form(self.read_query(InvitationLinkIn))

    def link_details(self, hidden: Mapping[str, Secret]) -> Mapping[str, Any]:
        return invitations.describe(hidden["token"], self.client)


class Decline(Endpoint):
    path = "org/invitations/decline"
    route = "org-invitation-decline"
    public = True

    @operation(
        "POST",
        body=DeclineInvitationIn,
        faults=(*_CLOSED, errors.InvitationExpired),
        id="declineOrgInvitation",
        answered="The invitation was declined; `data` is null.",
    )
    def decline(self) -> HttpResponse:
        """Decline an invitation to an organization with the token of its mail

        Declines an invitation with the `token` of its link. The caller need not be signed in. 400
        `INVITATION_NOT_PENDING`: it was answered or cancelled before.
        """
        invitations.decline(self.read(DeclineInvitationIn)["token"], self.client)
        return answer()


def _sent(row: OrganizationInvitation, *, mailed: bool) -> SentOrgInvitation:
    data: dict[str, Any] = {**_invitation(row), "mailed": mailed}
    return cast(SentOrgInvitation, data if mailed else {**data, "message": mailing.NOT_MAILED})


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
