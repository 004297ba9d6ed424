"""Organizations, their members and their invitations."""

from __future__ import annotations

from authservice.openapi.texts.text import Text

_ROLES = """
    403 `ORG_NOT_MEMBER`: the caller is not a member of the organization. 403
    `ORG_INSUFFICIENT_ROLE`: the role of the caller does not allow it. 404 `ORG_NOT_FOUND`: it does
    not exist or is not active.
    """

TEXTS = {
    "createOrganization": Text(
        """
        Creates an organization whose owner is the signed-in user. Without `slug` one is made from
        the name. The session does not change to the new organization: call `POST /org/switch` for
        that.

        409 `ORG_SLUG_TAKEN`: the slug that was sent is taken. 403 `ORG_MAX_PER_USER`: the user owns
        as many organizations as the service allows. 403 `FORBIDDEN`: this user may not create any.
        """,
        "The new organization.",
    ),
    "listOwnOrganizations": Text(
        """
        The organizations of which the signed-in user is a member, for a menu to switch between
        them. The list is complete and has no pages.
        """
    ),
    "listOwnOrgInvitations": Text(
        """
        The pending invitations to organizations for the address of the signed-in user, verified or
        not. They are accepted with the link of the mail only, because no response contains a token.
        """
    ),
    "switchOrganization": Text(
        """
        Makes an organization the active one of this session. Store both new tokens: the access
        token has the claims `org_id`, `org_slug` and `org_role`, and the former refresh token was
        used. Other sessions of the user do not change, and a new login begins without an active
        organization.

        403 `ORG_NOT_MEMBER` and 404 `ORG_NOT_FOUND`: read `GET /org/my` again.
        """
    ),
    "acceptOrgInvitation": Text(
        """
        Accepts an invitation with the `token` of its link, and signs the user in. If the address
        has no account, `password` and `name` create one, also where the sign-up is closed. A client
        that is signed in to the account of this address keeps its session, and the organization
        becomes its active one.

        The response is that of a login, with `member` and `is_new_user`, or the challenge of a
        second factor; the user has joined by then. 404 `INVITATION_NOT_FOUND`, 400
        `INVITATION_EXPIRED` and `INVITATION_NOT_PENDING`: ask the sender for another invitation.
        403 `ORG_MAX_MEMBERS`: the organization is full. 409 `ORG_MEMBER_EXISTS`: the user is a
        member already.
        """
    ),
    "showOrgInvitation": Text(
        """
        The page of an invitation, for services without a front end. A browser gets a form, which
        sends `POST /org/invitations/accept`. Opening it accepts nothing. Other clients get `status`
        `confirm`.
        """
    ),
    "declineOrgInvitation": Text(
        """
        Declines an invitation with the `token` of its link. The caller need not be signed in. 400
        `INVITATION_NOT_PENDING`: it was answered or cancelled before.
        """,
        "The invitation was declined; `data` is null.",
    ),
    "getOrgOne": Text(
        f"""
    One organization of the signed-in user. It need not be the active one of the session.
    {_ROLES}"""
    ),
    "updateOrgOne": Text(
        f"""
    Changes `name`, `logo_url` and `metadata` (JSON text); at least one of them must be sent. The
    slug never changes.
    {_ROLES}""",
        "The organization after the change.",
    ),
    "deleteOrgOne": Text(
        f"""
    Deletes an organization with its memberships and invitations, permanently. Only owners may. Ask
    for a confirmation before. Accounts of members stay, and their access tokens have the claims of
    the organization until the next refresh.
    {_ROLES}
    409 `ORG_IN_USE`: other data of the project needs the organization.
    """,
        "The organization was deleted.",
    ),
    "listMembers": Text(
        f"""
    The members with their roles and users. Every member may read it. Without `limit` the list is
    complete; `X-Total-Count` is the number of all. `query` is a part of a name, a username or an
    address.
    {_ROLES}"""
    ),
    "showMember": Text(
        f"""
    One member with the role and the user.
    {_ROLES}
    404 `ORG_MEMBER_NOT_FOUND`: the user is not a member.
    """
    ),
    "changeRole": Text(
        f"""
    Gives a member another `role`. Only owners make owners, and only owners change them. To transfer
    an organization, make another member owner and then leave.

    403 `ORG_CANNOT_REMOVE_OWNER`: the last owner must stay one. The new role applies at once here,
    and in claims from the next refresh of that member on.
    {_ROLES}""",
        "The member has the new role.",
    ),
    "removeMember": Text(
        f"""
    Removes a member, or lets the signed-in user leave with the own id. The account stays; access to
    the organization ends at once.

    403 `ORG_CANNOT_REMOVE_OWNER`: the last owner cannot leave. Make another member owner first, or
    delete the organization.
    {_ROLES}""",
        "The user is no longer a member.",
    ),
    "inviteMember": Text(
        f"""
    Mails an invitation with a link to the page of the front end, which is valid for 7 days unless
    the service sets another time. `role` is at most one that the caller may manage, and `member`
    without it.

    409 `ORG_MEMBER_EXISTS`: the address belongs to a member. 409 `INVITATION_ALREADY_EXISTS`: send
    the pending one again. 403 `ORG_MAX_MEMBERS`: the organization is full. A user can send 50
    invitations a day (429 `TOO_MANY_REQUESTS`).
    {_ROLES}""",
        "The invitation, which is pending. Its token is in the mail only.",
    ),
    "listOrgInvitations": Text(
        f"""
    All invitations of the organization, of every status, newest first. Filter by `status`, and by
    `query`, a part of the address. Without `limit` the list is complete; `X-Total-Count` is the
    number of all.
    {_ROLES}"""
    ),
    "cancelOrgInvitation": Text(
        f"""
    Cancels a pending invitation; its link is refused from now on. 400 `INVITATION_NOT_PENDING`: it
    was answered before.
    {_ROLES}""",
        "The invitation was cancelled.",
    ),
    "resendOrgInvitation": Text(
        f"""
    Mails a pending or expired invitation again: with a new link and a new expiry, while the former
    link is refused. The caller becomes its inviter. The same errors as for
    `POST /org/{{org_id}}/invite`.
    {_ROLES}""",
        "The invitation with its new expiry.",
    ),
}
