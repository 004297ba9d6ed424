"""Paths of the audit module, relative to the mount point."""

from django.urls import path

from authservice.audit import views

_MINE = {
    "me/audit": ("find", "my-audit"),
    "me/audit/logins": ("find_logins", "my-audit-logins"),
    "me/audit/changes": ("find_changes", "my-audit-changes"),
    "me/audit/security": ("find_security", "my-audit-security"),
}

urlpatterns = [
    *(path(at, views.Mine.as_view({"get": do}), name=name) for at, (do, name) in _MINE.items()),
    path("admin/audit", views.Everything.as_view({"get": "find"}), name="audit"),
    path(
        "admin/audit/users/<str:user_id>",
        views.OfUser.as_view({"get": "find"}),
        name="audit-user",
    ),
    path(
        "admin/audit/actions/<str:action>",
        views.OfAction.as_view({"get": "find"}),
        name="audit-action",
    ),
    path("admin/audit/cleanup", views.Cleanup.as_view({"post": "clean"}), name="audit-cleanup"),
]
