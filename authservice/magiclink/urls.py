"""URL patterns of the magic-link module, relative to the service's base path."""

from django.urls import path

from authservice.magiclink import views
from authservice.magiclink.link_login import VERIFY

urlpatterns = [
    path("magic-link/send", views.Send.as_view({"post": "send"}), name="send-magic-link"),
    path("magic-link/resend", views.Resend.as_view({"post": "resend"}), name="resend-magic-link"),
    path(
        "magic-link/verify",
        views.Verify.as_view({"get": "follow", "post": "confirm"}),
        name=VERIFY,
    ),
    path(
        "magic-link/verify-code",
        views.VerifyCode.as_view({"post": "verify_code"}),
        name="magic-link-verify-code",
    ),
]
