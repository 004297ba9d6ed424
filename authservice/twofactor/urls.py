"""Paths of the two-factor module, relative to the mount point."""

from django.urls import path

from authservice.twofactor import views

urlpatterns = [
    path("2fa/setup", views.Setup.as_view({"post": "set_up"}), name="2fa-setup"),
    path("2fa/verify", views.Verify.as_view({"post": "verify"}), name="2fa-verify"),
    path("2fa/disable", views.Disable.as_view({"post": "disable"}), name="2fa-disable"),
    path("2fa/status", views.Status.as_view({"get": "read_status"}), name="2fa-status"),
    path(
        "2fa/backup-codes",
        views.RenewBackupCodes.as_view({"post": "renew"}),
        name="2fa-backup-codes",
    ),
    path(
        "2fa/verify-login", views.VerifyLogin.as_view({"post": "verify"}), name="2fa-verify-login"
    ),
    path("2fa/setup-login", views.SetupLogin.as_view({"post": "set_up"}), name="2fa-setup-login"),
]
