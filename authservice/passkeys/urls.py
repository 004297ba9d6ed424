"""URL patterns of the passkeys module, relative to the service's base path."""

from django.urls import path

from authservice.passkeys import views

urlpatterns = [
    path("passkeys", views.Passkeys.as_view({"get": "find", "post": "add"}), name="passkeys"),
    path("passkeys/options", views.Options.as_view({"post": "begin"}), name="passkey-options"),
    path("passkeys/signals", views.Signals.as_view({"get": "show"}), name="passkey-signals"),
    path(
        "passkeys/login/options",
        views.LoginOptions.as_view({"post": "begin"}),
        name="passkey-login-options",
    ),
    path("passkeys/login", views.Login.as_view({"post": "log_in"}), name="passkey-login"),
    path(
        "passkeys/<str:passkey_id>",
        views.OnePasskey.as_view({"put": "change", "delete": "remove"}),
        name="passkey",
    ),
]
