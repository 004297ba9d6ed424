"""Paths of the organization module, relative to the mount point.

The paths of the user come first: `my` and `switch` are not ids.
"""

from django.urls import path

from authservice.core.api.link_endpoint import with_page
from authservice.organization.views import invitations, organizations

_ORG = "org/<str:org_id>"

urlpatterns = [
    path("org", organizations.Organizations.as_view({"post": "create"}), name="org"),
    path("org/my", organizations.OwnOrganizations.as_view({"get": "find"}), name="org-my"),
    path("org/switch", organizations.Switch.as_view({"post": "switch"}), name="org-switch"),
    path(
        "org/my/invitations",
        invitations.OwnInvitations.as_view({"get": "find"}),
        name="org-my-invitations",
    ),
    path(
        "org/invitations/accept",
        invitations.Accept.as_view(with_page({"post": "accept"})),
        name="org-invitation-accept",
    ),
    path(
        "org/invitations/decline",
        invitations.Decline.as_view({"post": "decline"}),
        name="org-invitation-decline",
    ),
    path(
        _ORG,
        organizations.Organization.as_view({"get": "show", "put": "change", "delete": "delete"}),
        name="org-one",
    ),
    path(f"{_ORG}/members", organizations.Members.as_view({"get": "find"}), name="org-members"),
    path(
        f"{_ORG}/members/<str:user_id>",
        organizations.Member.as_view({"get": "show", "put": "change", "delete": "remove"}),
        name="org-member",
    ),
    path(f"{_ORG}/invite", invitations.Invite.as_view({"post": "create"}), name="org-invite"),
    path(
        f"{_ORG}/invitations",
        invitations.Invitations.as_view({"get": "find"}),
        name="org-invitations",
    ),
    path(
        f"{_ORG}/invitations/<str:invitation_id>",
        invitations.OneInvitation.as_view({"delete": "cancel"}),
        name="org-invitation",
    ),
    path(
        f"{_ORG}/invitations/<str:invitation_id>/resend",
        invitations.Resend.as_view({"post": "resend"}),
        name="org-invitation-resend",
    ),
]
