"""Routes of the invitation module. No response contains a token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NotRequired, TypedDict, cast

from django.http import HttpResponse
from rest_framework import serializers

from authservice.core import errors
from authservice.core.api import responses, token_cookies
from authservice.core.api.callers import caller_to_continue, signed_in_user
from authservice.core.api.endpoint import Endpoint
from authservice.core.api.link_endpoint import FormEndpoint, ToConfirm
from authservice.core.api.responses import Challenged, Entered, InvitationStatus, MessageResponse
from authservice.core.api.serializers import (
    AcceptInvitationIn,
    DeclineInvitationIn,
    Email,
    InvitationLinkIn,
)
from authservice.core.invitations import acceptance, mailing
from authservice.core.invitations.acceptance import Accepted, Profile
from authservice.core.invitations.models import Status
from authservice.invitation import platform_invitations
from authservice.invitation.conf import PURPOSE_LENGTH, conf
from authservice.invitation.errors import InvitationMaxPending
from authservice.invitation.models import METADATA_LENGTH, PlatformInvitation
from authservice.invitation.platform_invitations import (
    OWN_SORT_FIELDS,
    SORT_FIELDS,
    Filter,
    NewInvitation,
)
from authservice.kernel.errors import Forbidden
from authservice.kernel.http import fields
from authservice.kernel.http.envelope import answer, utc
from authservice.kernel.http.fields import Choice, JsonText, Text
from authservice.kernel.http.listing import (
    MAX_NUMBER,
    ArrayQuery,
    Listing,
    SortDirection,
    array,
    array_page,
    counted,
    listing,
    page,
    without_empty,
)
from authservice.kernel.http.operations import Moment, carries, operation
from authservice.kernel.languages import phrase
from authservice.kernel.secret import Secret
from authservice.kernel.settings import early

DEFAULT_PURPOSE = "platform"
_LINK_FAULTS = (errors.InvitationExpired, errors.InvitationNotFound, errors.InvitationNotPending)
_SENDING_FAULTS = (errors.EmailNotConfigured, errors.InvitationAlreadyExists, InvitationMaxPending)


class Metadata(JsonText):
    """JSON text of the project."""

    def __init__(self, **options: Any) -> None:
        # A serializer makes its fields anew, and so reads the setting. `early` is for the first
        # time: the declaration below calls this when the file is imported.
        longest = early(lambda: conf.metadata_max, METADATA_LENGTH)
        super().__init__(max_length=longest, **options)


class InvitationIn(serializers.Serializer[Any]):
    example: ClassVar = {"email": "bob@example.com"}

    email = Email()
    purpose = Text(
        max_length=PURPOSE_LENGTH, required=False, allow_blank=True, default=DEFAULT_PURPOSE
    )
    metadata = Metadata(required=False, allow_blank=True, default="")


class OwnInvitationsQuery(serializers.Serializer[Any]):
    """Filters of the list of a recipient."""

    purpose = Text(max_length=PURPOSE_LENGTH, required=False)
    query = Text(max_length=254, required=False)


class InvitationsQuery(OwnInvitationsQuery):
    """Filters of the list of a sender."""

    status = Choice(Status.values, component="InvitationStatus", required=False)


class InvitationsPage(InvitationsQuery):
    """The filters with the parameters of all lists, declared for the API description;
    `listing.page` reads the latter."""

    offset = serializers.IntegerField(required=False, min_value=0, max_value=MAX_NUMBER, default=0)
    limit = serializers.IntegerField(required=False, min_value=1, max_value=MAX_NUMBER, default=20)
    sort_field = Choice(SORT_FIELDS, required=False, default=SORT_FIELDS[0])
    sort_dir = SortDirection()


class OwnInvitationsPage(OwnInvitationsQuery, ArrayQuery):
    """The same for the list of a recipient, which is an array."""

    sort_field = Choice(OWN_SORT_FIELDS, required=False, default=OWN_SORT_FIELDS[0])
    sort_dir = SortDirection()


class Invitation(TypedDict):
    """An invitation to the service. `status` is pending, accepted, declined, cancelled or
    expired."""

    id: str
    email: str
    purpose: str
    inviter_id: str
    status: InvitationStatus
    expires_at: Moment
    created_at: Moment
    metadata: str


class SentInvitation(Invitation):
    """`mailed` is false, and `message` says so, if the recipient gets no more mails today."""

    mailed: bool
    message: NotRequired[str]


@carries("X-Device-Token", "Set-Cookie")
class InvitationAccepted(Entered):
    """The tokens of the user who accepted; `is_new_user` says whether the account is new."""

    is_new_user: bool


class Invitations(Endpoint):
    path = "invitations"
    route = "invitations"

    @operation(
        "GET",
        query=InvitationsPage,
        answer=Listing[Invitation],
        id="listInvitations",
    )
    def find(self) -> HttpResponse:
        """List the invitations that the user sent

        The invitations that the signed-in user sent, of every status, page by page. Filter by
        `status`, `purpose` and `query`, a part of the address. `total` is the number of all that
        match.
        """
        query = without_empty(self.request.GET)
        paging = page(query, SORT_FIELDS)
        filters = Filter(**fields.read(InvitationsQuery, query))
        rows, total = platform_invitations.sent_by(self.identity.person, filters, paging)
        return answer(listing([_invitation(row) for row in rows], paging, total))

    @operation(
        "POST",
        body=InvitationIn,
        answer=SentInvitation,
        status=201,
        faults=(Forbidden, *_SENDING_FAULTS),
        id="createInvitation",
        answered="The invitation, which is pending. Its token is in the mail only.",
    )
    def create(self) -> HttpResponse:
        """Invite an e-mail address

        Mails an invitation with a link to the page of the front end, which is valid for 7 days
        unless the service sets another time. `purpose` and `metadata` belong to the project: the
        service stores and returns them.

        409 `INVITATION_ALREADY_EXISTS`: the user has invited this address already; send it again
        with `POST /invitations/{invitation_id}/resend`. 403 `FORBIDDEN`: this user may not invite.
        403 `INVITATION_MAX_PENDING`: the address has too many open invitations. A user can send 50
        invitations a day, and one mail a day to each address (429 `TOO_MANY_REQUESTS`).
        """
        caller, data = self.identity, self.read(InvitationIn)
        new_invitation = NewInvitation(**{**data, "purpose": data["purpose"] or DEFAULT_PURPOSE})
        created, mailed = platform_invitations.invite(
            caller.person, caller.session, new_invitation, self.client
        )
        return answer(_sent(created, mailed=mailed), status=201)


class OwnInvitations(Endpoint):
    path = "invitations/my"
    route = "own-invitations"

    @operation(
        "GET",
        query=OwnInvitationsPage,
        answer=counted(list[Invitation]),
        id="listOwnInvitations",
    )
    def find(self) -> HttpResponse:
        """List the pending invitations for the user's address

        The pending invitations to the address of the signed-in user, verified or not. They are
        accepted with the link of the mail only, because no response contains a token. `limit`
        is 100 at most and by default; `X-Total-Count` is the number of all.
        """
        query = without_empty(self.request.GET)
        filters = Filter(**fields.read(OwnInvitationsQuery, query))
        paging = array_page(query, OWN_SORT_FIELDS)
        rows, total = platform_invitations.pending_for(self.identity.person, filters, paging)
        return array([_invitation(row) for row in rows], total)


class OneInvitation(Endpoint):
    path = "invitations/<str:invitation_id>"
    route = "invitation"

    @operation(
        "DELETE",
        answer=MessageResponse,
        faults=(Forbidden, errors.InvitationNotFound, errors.InvitationNotPending),
        id="cancelInvitation",
        answered="The invitation was cancelled.",
    )
    def cancel(self, invitation_id: str) -> HttpResponse:
        """Cancel a pending invitation

        Cancels a pending invitation that the signed-in user sent; its link is refused from now on.
        403 `FORBIDDEN`: another user sent it. 400 `INVITATION_NOT_PENDING`: it was answered before.
        """
        caller = self.identity
        platform_invitations.cancel(caller.person, caller.session, invitation_id, self.client)
        return responses.message_response(phrase("The invitation was cancelled."))


class Resend(Endpoint):
    path = "invitations/<str:invitation_id>/resend"
    route = "invitation-resend"

    @operation(
        "POST",
        answer=SentInvitation,
        faults=(
            Forbidden,
            errors.InvitationNotFound,
            errors.InvitationNotPending,
            *_SENDING_FAULTS,
        ),
        id="resendInvitation",
        answered="The invitation with its new expiry.",
    )
    def resend(self, invitation_id: str) -> HttpResponse:
        """Send an invitation again, with a new link and expiry

        Mails a pending or expired invitation again: with a new link and a new expiry, while the
        former link is refused. If the address gets no more mails today, `mailed` is false, nothing
        is sent, and the former link stays valid. The same errors as for `POST /invitations`.
        """
        caller = self.identity
        sent, mailed = platform_invitations.resend(
            caller.person, caller.session, invitation_id, self.client
        )
        return answer(_sent(sent, mailed=mailed))


class Accept(FormEndpoint):
    """The link of the mail leads here if the project has no front end."""

    path = "invitations/accept"
    route = "invitation-accept"
    typed = ("name",)
    public = True

    @operation(
        "POST",
        body=AcceptInvitationIn,
        answer=InvitationAccepted | Challenged,
        faults=acceptance.REFUSALS,
        id="acceptInvitation",
    )
    def accept(self) -> HttpResponse:
        """Accept an invitation with the token of its mail, and sign in

        Accepts an invitation with the `token` of its link, and signs the user in. If the address
        has no account, `name` and `password` create one, also where the sign-up is closed. If the
        page cannot know, send the token alone first, and ask for both on 400 `VALIDATION_ERROR`.
        The address is verified then. A client that is signed in to the account of the address keeps
        its session. If it sends its `refresh_token`, that is replaced; otherwise the response
        repeats it, or has none if the service withholds it.

        The response is that of a login: tokens with `is_new_user`, or the challenge of a second
        factor. 404 `INVITATION_NOT_FOUND`, 400 `INVITATION_EXPIRED` and `INVITATION_NOT_PENDING`:
        ask the sender for another invitation. 400 `INVALID_PASSWORD`: show the message, which has
        the rules.
        """
        data = self.read(AcceptInvitationIn)
        # A `caller` has tokens, and continues their session. A `visitor` is signed in otherwise,
        # such as by Django's session on a page.
        caller = caller_to_continue(self.request)
        visitor = None if caller else signed_in_user(self.request)

        # Called with the refresh token of the body or of the cookie.
        def accept(refresh_token: Secret) -> Accepted[None]:
            return platform_invitations.accept(
                data["token"],
                Profile(name=data["name"], password=data["password"]),
                self.client,
                caller=caller,
                visitor=visitor,
                refresh_token=refresh_token,
            )

        accepted = token_cookies.continuing(self, data["refresh_token"], accept)
        return responses.login(
            accepted.login,
            message=phrase("Invitation accepted."),
            more={"is_new_user": accepted.is_new_user},
        )

    @operation(
        "GET",
        query=InvitationLinkIn,
        answer=ToConfirm | None,
        page="A browser gets a page with a form.",
        faults=_LINK_FAULTS,
        id="showInvitation",
    )
    def show(self) -> HttpResponse:
        """Show the page of an invitation

        The page of an invitation, for services without a front end. A browser gets a form, which
        sends `POST /invitations/accept`. Opening it accepts nothing. Other clients get `status`
        `confirm`.
        """
        return self.show_form(self.read_query(InvitationLinkIn))

    def link_details(self, hidden: Mapping[str, Secret]) -> Mapping[str, Any]:
        return platform_invitations.describe(hidden["token"], self.client)


class Decline(Endpoint):
    path = "invitations/decline"
    route = "invitation-decline"
    public = True

    @operation(
        "POST",
        body=DeclineInvitationIn,
        faults=_LINK_FAULTS,
        id="declineInvitation",
        answered="The invitation was declined; `data` is null.",
    )
    def decline(self) -> HttpResponse:
        """Decline an invitation with the token of its mail

        Declines an invitation with the `token` of its link. The caller need not be signed in. The
        sender is not mailed, but sees the status `declined`.

        400 `INVITATION_NOT_PENDING`: it was answered or cancelled before.
        """
        platform_invitations.decline(self.read(DeclineInvitationIn)["token"], self.client)
        return answer()


def _sent(row: PlatformInvitation, *, mailed: bool) -> SentInvitation:
    data: dict[str, Any] = {**_invitation(row), "mailed": mailed}
    return cast(SentInvitation, data if mailed else {**data, "message": mailing.NOT_MAILED})


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
