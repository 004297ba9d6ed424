"""Paths of the csrf module, below the mount."""

from django.urls import path

from authservice.csrf import views

urlpatterns = [
    path("csrf-token", views.Csrf.as_view({"get": "issue"}), name="csrf-token"),
]
