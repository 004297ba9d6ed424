"""Paths of core, relative to the mount point."""

from django.urls import path

from authservice.core.api import (
    account_views,
    login_views,
    me_views,
    recovery_views,
    signup_views,
)
from authservice.core.api.link_endpoint import with_page

urlpatterns = [
    path("signup", signup_views.Signup.as_view({"post": "sign_up"}), name="signup"),
    path("me", me_views.Me.as_view({"get": "read_me", "delete": "erase"}), name="me"),
    path("me/delete", me_views.DeleteMe.as_view({"post": "erase"}), name="delete-me"),
    path("me/export", me_views.ExportMe.as_view({"get": "export"}), name="export-me"),
    path(
        "account/delete",
        me_views.DeleteAccount.as_view({"get": "show", "post": "erase"}),
        name="delete-account",
    ),
    path(
        "profile",
        account_views.Profile.as_view({"put": "update", "patch": "update"}),
        name="profile",
    ),
    path(
        "change-username",
        account_views.ChangeUsername.as_view({"put": "change"}),
        name="change-username",
    ),
    path("change-email", account_views.ChangeEmail.as_view({"post": "ask"}), name="change-email"),
    path(
        "change-email/confirm",
        account_views.ConfirmEmailChange.as_view({"get": "show", "post": "confirm"}),
        name="confirm-email-change",
    ),
    path(
        "change-password",
        account_views.ChangePassword.as_view({"put": "change"}),
        name="change-password",
    ),
    path(
        "is-available", account_views.IsAvailable.as_view({"post": "look_up"}), name="is-available"
    ),
    path(
        "forgot-password",
        recovery_views.ForgotPassword.as_view({"post": "ask"}),
        name="forgot-password",
    ),
    path(
        "reset-password",
        recovery_views.ResetPassword.as_view(with_page({"post": "reset"})),
        name="reset-password",
    ),
    path(
        "send-verification-email",
        recovery_views.SendVerificationEmail.as_view({"post": "send"}),
        name="send-verification-email",
    ),
    path(
        "resend-verification-email",
        recovery_views.ResendVerificationEmail.as_view({"post": "resend"}),
        name="resend-verification-email",
    ),
    path(
        "verify-email",
        signup_views.VerifyEmail.as_view({"get": "verify", "post": "confirm"}),
        name="verify-email",
    ),
    path(
        "send-verification-phone",
        recovery_views.SendVerificationPhone.as_view({"post": "send"}),
        name="send-verification-phone",
    ),
    path(
        "resend-verification-phone",
        recovery_views.ResendVerificationPhone.as_view({"post": "resend"}),
        name="resend-verification-phone",
    ),
    path(
        "verify-phone", recovery_views.VerifyPhone.as_view({"post": "verify"}), name="verify-phone"
    ),
    path(
        "account/secure",
        recovery_views.SecureAccount.as_view({"get": "show", "post": "secure"}),
        name="secure-account",
    ),
    path("step-up", login_views.StepUp.as_view({"post": "ask"}), name="step-up"),
    path(
        "step-up/verify",
        login_views.VerifyStepUp.as_view({"post": "verify"}),
        name="step-up-verify",
    ),
    path(".well-known/jwks.json", signup_views.KeySet.as_view({"get": "read_keys"}), name="jwks"),
]
