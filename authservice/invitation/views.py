"""Routes of the invitation module. No response contains a token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from django.http import HttpResponse

from authservice.core.api import responses
from authservice.core.api.authentication import caller_to_continue
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.link_endpoint import FormEndpoint, ToConfirm
from authservice.core.api.responses import Authenticated, Challenged, MessageResponse
from authservice.core.api.serializers import (
    AcceptInvitationIn,
    DeclineInvitationIn,
    InvitationLinkIn,
)
from authservice.core.invitations import acceptance
from authservice.core.invitations.acceptance import Profile
from authservice.invitation import answering, invitations, lists
from authservice.invitation.invitations import NewInvitation
from authservice.invitation.lists import OWN_SORT_FIELDS, SORT_FIELDS, Filter
from authservice.invitation.models import PlatformInvitation
from authservice.invitation.serializers import (
    DEFAULT_PURPOSE,
    InvitationIn,
    InvitationsPage,
    InvitationsQuery,
    OwnInvitationsPage,
    OwnInvitationsQuery,
)
from authservice.kernel import errors
from authservice.kernel.http import fields
from authservice.kernel.http.envelope import answer, utc
from authservice.kernel.http.listing import (
    Listing,
    array,
    array_page,
    counted,
    given,
    listing,
    page,
)
from authservice.kernel.http.operations import Moment, Uuid, carries, operation
from authservice.kernel.phrases import phrase
from authservice.kernel.secret import Secret

_OPEN = (errors.InvitationExpired, errors.InvitationNotFound, errors.InvitationNotPending)
_LIMITED = (errors.EmailNotConfigured, errors.InvitationAlreadyExists, errors.InvitationMaxPending)


class Invitation(TypedDict):
    """An invitation to the service. `status` is pending, accepted, declined, cancelled or
    expired."""

    id: Uuid
    email: str
    purpose: str
    inviter_id: str
    status: str
    expires_at: Moment
    created_at: Moment
    metadata: str


@carries("X-Device-Token", "Set-Cookie")
class InvitationAccepted(Authenticated):
    """The tokens of the user who accepted; `is_new_user` says whether the account is new."""

    is_new_user: bool


class Invitations(Endpoint):
    @operation(
        "Invite an e-mail address",
        body=InvitationIn,
        answer=Invitation,
        status=201,
        faults=(errors.Forbidden, *_LIMITED),
    )
    def create(self) -> HttpResponse:
        caller, read = self.identity, self.read(InvitationIn)
        wanted = NewInvitation(**{**read, "purpose": read["purpose"] or DEFAULT_PURPOSE})
        created = invitations.invite(caller.person, caller.session, wanted, self.client)
        return answer(_invitation(created), status=201)

    @operation(
        "List the invitations that the user sent",
        query=InvitationsPage,
        answer=Listing[Invitation],
    )
    def find(self) -> HttpResponse:
        query = given(self.request.GET)
        wanted, asked = page(query, SORT_FIELDS), Filter(**fields.read(InvitationsQuery, query))
        rows, total = lists.sent_by(self.identity.person, asked, wanted)
        return answer(listing([_invitation(row) for row in rows], wanted, total))


class OwnInvitations(Endpoint):
    @operation(
        "List the pending invitations for the user's address",
        query=OwnInvitationsPage,
        answer=counted(list[Invitation]),
    )
    def find(self) -> HttpResponse:
        query = given(self.request.GET)
        asked = Filter(**fields.read(OwnInvitationsQuery, query))
        wanted = array_page(query, OWN_SORT_FIELDS)
        rows, total = lists.pending_for(self.identity.person, asked, wanted)
        return array([_invitation(row) for row in rows], total)


class OneInvitation(Endpoint):
    @operation(
        "Cancel a pending invitation",
        answer=MessageResponse,
        faults=(errors.Forbidden, errors.InvitationNotFound, errors.InvitationNotPending),
    )
    def cancel(self, invitation_id: str) -> HttpResponse:
        caller = self.identity
        invitations.cancel(caller.person, caller.session, invitation_id, self.client)
        return responses.message_response(phrase("The invitation was cancelled."))


class Resend(Endpoint):
    @operation(
        "Send an invitation again, with a new link and expiry",
        answer=Invitation,
        faults=(
            errors.Forbidden,
            errors.InvitationNotFound,
            errors.InvitationNotPending,
            *_LIMITED,
        ),
    )
    def resend(self, invitation_id: str) -> HttpResponse:
        caller = self.identity
        sent = invitations.resend(caller.person, caller.session, invitation_id, self.client)
        return answer(_invitation(sent))


class Accept(FormEndpoint):
    """The link of the mail leads here if the project has no front end."""

    route = "invitation-accept"
    typed = ("name",)
    public = True

    @operation(
        "Show the page of an invitation",
        query=InvitationLinkIn,
        answer=ToConfirm | None,
        page="A browser gets a page with a form.",
        faults=_OPEN,
        id="showInvitation",
    )
    def show(self) -> HttpResponse:
        return self.show_form(self.read_query(InvitationLinkIn))

    def known(self, given: Mapping[str, Secret]) -> Mapping[str, Any]:
        return answering.describe(given["token"], self.client)

    @operation(
        "Accept an invitation with the token of its mail, and sign in",
        body=AcceptInvitationIn,
        answer=InvitationAccepted | Challenged,
        faults=acceptance.REFUSALS,
    )
    def accept(self) -> HttpResponse:
        read = self.read(AcceptInvitationIn)
        accepted = answering.accept(
            read["token"],
            Profile(name=read["name"], password=read["password"]),
            self.client,
            caller=caller_to_continue(self.request),
        )
        return responses.login(
            accepted.login,
            message=phrase("Invitation accepted."),
            more={"is_new_user": accepted.is_new_user},
        )


class Decline(Endpoint):
    public = True

    @operation(
        "Decline an invitation with the token of its mail",
        body=DeclineInvitationIn,
        faults=_OPEN,
    )
    def decline(self) -> HttpResponse:
        answering.decline(self.read(DeclineInvitationIn)["token"], self.client)
        return answer()


def _invitation(row: PlatformInvitation) -> Invitation:
    return {
        "id": str(row.pk),
        "email": row.email,
        "purpose": row.purpose,
        "inviter_id": str(row.inviter_id),
        "status": row.current_status,
        "expires_at": utc(row.expires_at),
        "created_at": utc(row.created_at),
        "metadata": row.metadata,
    }
