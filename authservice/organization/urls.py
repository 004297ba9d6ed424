"""Paths of the organization module, relative to the mount point.

Fixed paths such as `org/my` come first: `org/<str:org_id>` would match them too.
"""

from django.urls import path

from authservice.core.api.link_endpoint import with_page
from authservice.organization.views import invitation_routes, organization_routes

_ORG = "org/<str:org_id>"

urlpatterns = [
    path("org", organization_routes.Organizations.as_view({"post": "create"}), name="org"),
    path("org/my", organization_routes.OwnOrganizations.as_view({"get": "find"}), name="org-my"),
    path("org/switch", organization_routes.Switch.as_view({"post": "switch"}), name="org-switch"),
    path(
        "org/my/invitations",
        invitation_routes.OwnInvitations.as_view({"get": "find"}),
        name="org-my-invitations",
    ),
    path(
        "org/invitations/accept",
        invitation_routes.Accept.as_view(with_page({"post": "accept"})),
        name="org-invitation-accept",
    ),
    path(
        "org/invitations/decline",
        invitation_routes.Decline.as_view({"post": "decline"}),
        name="org-invitation-decline",
    ),
    path(
        _ORG,
        organization_routes.Organization.as_view(
            {"get": "show", "put": "change", "delete": "delete"}
        ),
        name="org-one",
    ),
    path(
        f"{_ORG}/members", organization_routes.Members.as_view({"get": "find"}), name="org-members"
    ),
    path(
        f"{_ORG}/members/<str:user_id>",
        organization_routes.Member.as_view({"get": "show", "put": "change", "delete": "remove"}),
        name="org-member",
    ),
    path(f"{_ORG}/invite", invitation_routes.Invite.as_view({"post": "create"}), name="org-invite"),
    path(
        f"{_ORG}/invitations",
        invitation_routes.Invitations.as_view({"get": "find"}),
        name="org-invitations",
    ),
    path(
        f"{_ORG}/invitations/<str:invitation_id>",
        invitation_routes.OneInvitation.as_view({"delete": "cancel"}),
        name="org-invitation",
    ),
    path(
        f"{_ORG}/invitations/<str:invitation_id>/resend",
        invitation_routes.Resend.as_view({"post": "resend"}),
        name="org-invitation-resend",
    ),
]
