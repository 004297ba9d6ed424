"""URL patterns of the invitation module, relative to the service's base path."""

from django.urls import path

from authservice.core.api.link_endpoint import with_page
from authservice.invitation import views

urlpatterns = [
    path(
        "invitations",
        views.Invitations.as_view({"get": "find", "post": "create"}),
        name="invitations",
    ),
    path("invitations/my", views.OwnInvitations.as_view({"get": "find"}), name="own-invitations"),
    path(
        "invitations/accept",
        views.Accept.as_view(with_page({"post": "accept"})),
        name="invitation-accept",
    ),
    path(
        "invitations/decline", views.Decline.as_view({"post": "decline"}), name="invitation-decline"
    ),
    path(
        "invitations/<str:invitation_id>",
        views.OneInvitation.as_view({"delete": "cancel"}),
        name="invitation",
    ),
    path(
        "invitations/<str:invitation_id>/resend",
        views.Resend.as_view({"post": "resend"}),
        name="invitation-resend",
    ),
]
