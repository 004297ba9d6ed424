"""Paths of the session module, below the mount."""

from django.urls import path

from authservice.core.api.login_views import login_paths
from authservice.session import views

urlpatterns = [
    *login_paths(),
    path(
        "sessions",
        views.Sessions.as_view({"get": "find", "delete": "revoke_others"}),
        name="sessions",
    ),
    path(
        "sessions/<str:session_id>",
        views.OneSession.as_view({"get": "show", "delete": "revoke"}),
        name="session",
    ),
]
