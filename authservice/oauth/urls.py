"""URL patterns of the oauth module, relative to the service's base path."""

from django.urls import path

from authservice.oauth import views
from authservice.oauth.flow import CALLBACK

urlpatterns = [
    path("oauth/providers", views.Providers.as_view({"get": "list_all"}), name="oauth-providers"),
    path("oauth/linked", views.LinkedProviders.as_view({"get": "list_own"}), name="oauth-linked"),
    path(
        "oauth/<str:provider>",
        views.Start.as_view({"get": "start", "delete": "unlink"}),
        name="oauth",
    ),
    path(
        "oauth/<str:provider>/callback",
        views.Callback.as_view({"get": "follow", "post": "receive"}),
        name=CALLBACK,
    ),
    path("oauth/<str:provider>/link", views.Link.as_view({"post": "start"}), name="oauth-link"),
    path("oauth/<str:provider>/nonce", views.Nonce.as_view({"post": "issue"}), name="oauth-nonce"),
    path("oauth/<str:provider>/token", views.Token.as_view({"post": "trade"}), name="oauth-token"),
]
