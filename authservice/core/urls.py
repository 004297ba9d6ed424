"""Paths of core, below the mount."""

from django.urls import path

from authservice.core import views

urlpatterns = [
    path("signup", views.Signup.as_view({"post": "sign_up"}), name="signup"),
    path("me", views.Me.as_view({"get": "read_me"}), name="me"),
    path(".well-known/jwks.json", views.KeySet.as_view({"get": "read_keys"}), name="jwks"),
]
