"""URL patterns of the oauth module, relative to the service's base path."""

from django.urls import path

from authservice.oauth.flow import CALLBACK
from authservice.oauth.views import providers
from authservice.oauth.views.callback import Callback

urlpatterns = [
    path(
        "oauth/providers", providers.Providers.as_view({"get": "list_all"}), name="oauth-providers"
    ),
    path(
        "oauth/linked", providers.LinkedProviders.as_view({"get": "list_own"}), name="oauth-linked"
    ),
    path(
        "oauth/<str:provider>",
        providers.Start.as_view({"get": "start", "delete": "unlink"}),
        name="oauth",
    ),
    path(
        "oauth/<str:provider>/callback",
        Callback.as_view({"get": "follow", "post": "receive"}),
        name=CALLBACK,
    ),
    path("oauth/<str:provider>/link", providers.Link.as_view({"post": "start"}), name="oauth-link"),
    path(
        "oauth/<str:provider>/nonce", providers.Nonce.as_view({"post": "issue"}), name="oauth-nonce"
    ),
    path(
        "oauth/<str:provider>/token", providers.Token.as_view({"post": "trade"}), name="oauth-token"
    ),
]
