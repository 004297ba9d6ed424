"""Paths of the admin module, relative to the mount point."""

from django.urls import path

from authservice.admin import views

user = views.User.as_view({"get": "show", "put": "change", "delete": "delete"})

urlpatterns = [
    path("admin/users", views.Users.as_view({"get": "find", "post": "create"}), name="admin-users"),
    path("admin/users/<str:user_id>", user, name="admin-user"),
    path(
        "admin/users/<str:user_id>/suspend",
        views.Suspend.as_view({"post": "suspend"}),
        name="admin-suspend",
    ),
    path(
        "admin/users/<str:user_id>/reactivate",
        views.Reactivate.as_view({"post": "reactivate"}),
        name="admin-reactivate",
    ),
    path(
        "admin/users/<str:user_id>/logout",
        views.Logout.as_view({"post": "log_out"}),
        name="admin-logout",
    ),
    path(
        "admin/users/<str:user_id>/reset-password",
        views.ResetPassword.as_view({"post": "mail_link"}),
        name="admin-reset-password",
    ),
]
