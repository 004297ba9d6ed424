"""Invitations to the service."""

from __future__ import annotations

from authservice.openapi.texts.text import Text

TEXTS = {
    "getInvitations": Text(
        """
        The invitations that the signed-in user sent, of every status, page by page. Filter by
        `status`, `purpose` and `query`, a part of the address. `total` is the number of all that
        match.
        """
    ),
    "createInvitations": Text(
        """
        Mails an invitation with a link to the page of the front end, which is valid for 7 days
        unless the service sets another time. `purpose` and `metadata` belong to the project: the
        service stores and returns them.

        409 `INVITATION_ALREADY_EXISTS`: the user has invited this address already; send it again
        with `POST /invitations/{invitation_id}/resend`. 403 `FORBIDDEN`: this user may not invite.
        403 `INVITATION_MAX_PENDING`: the address has too many open invitations. A user can send 50
        invitations a day (429 `TOO_MANY_REQUESTS`).
        """,
        "The invitation, which is pending. Its token is in the mail only.",
    ),
    "getOwnInvitations": Text(
        """
        The pending invitations to the address of the signed-in user, verified or not. They are
        accepted with the link of the mail only, because no response contains a token. Without
        `limit` the list is complete; `X-Total-Count` is the number of all.
        """
    ),
    "createInvitationAccept": Text(
        """
        Accepts an invitation with the `token` of its link, and signs the user in. If the address
        has no account, `name` and `password` create one, also where the sign-up is closed. If the
        page cannot know, send the token alone first, and ask for both on 400 `VALIDATION_ERROR`.
        The address is verified then.

        The response is that of a login: tokens with `is_new_user`, or the challenge of a second
        factor. 404 `INVITATION_NOT_FOUND`, 400 `INVITATION_EXPIRED` and `INVITATION_NOT_PENDING`:
        ask the sender for another invitation. 400 `INVALID_PASSWORD`: show the message, which has
        the rules.
        """
    ),
    "showInvitation": Text(
        """
        The page of an invitation, for services without a front end. A browser gets a form, which
        sends `POST /invitations/accept`. Opening it accepts nothing. Other clients get `status`
        `confirm`.
        """
    ),
    "invitationDecline": Text(
        """
        Declines an invitation with the `token` of its link. The caller need not be signed in. The
        sender is not mailed, but sees the status `declined`.

        400 `INVITATION_NOT_PENDING`: it was answered or cancelled before.
        """,
        "The invitation was declined; `data` is null.",
    ),
    "deleteInvitation": Text(
        """
        Cancels a pending invitation that the signed-in user sent; its link is refused from now on.
        403 `FORBIDDEN`: another user sent it. 400 `INVITATION_NOT_PENDING`: it was answered before.
        """,
        "The invitation was cancelled.",
    ),
    "invitationResend": Text(
        """
        Mails a pending or expired invitation again: with a new link and a new expiry, while the
        former link is refused. Beyond the limit on mails to one address nothing is sent, and the
        former link stays valid. The same errors as for `POST /invitations`.
        """,
        "The invitation with its new expiry.",
    ),
}
