"""URL patterns of the magic-link module, relative to the service's base path."""

from django.urls import path

from authservice.magiclink import views
from authservice.magiclink.messages import VERIFY

send = views.Send.as_view({"post": "send"})

urlpatterns = [
    path("magic-link/send", send, name="magic-link-send"),
    path("magic-link/resend", send, name="magic-link-resend"),
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
