"""Paths of the stateless module, below the mount."""

from django.urls import path

from authservice.stateless import views

urlpatterns = [
    path("login", views.Login.as_view({"post": "log_in"}), name="login"),
    path("refresh", views.Refresh.as_view({"post": "refresh"}), name="refresh"),
    path("logout", views.Logout.as_view({"post": "log_out"}), name="logout"),
]
