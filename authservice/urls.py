"""Composition root: the URLconfs of the installed modules, then an enveloped 404."""

from importlib import import_module

from django.urls import re_path

from authservice.kernel.http.views import NotFoundEndpoint
from authservice.kernel.modules import urlconfs

app_name = "authservice"

# Routes are tried in turn, so those that are asked for most come first.
BUSIEST = ("me", "refresh", "login")
# Side by side rather than nested: every level costs each request a look.
_ROUTES = [route for urlconf in urlconfs() for route in import_module(urlconf).urlpatterns]

urlpatterns = [
    *sorted(_ROUTES, key=lambda route: route.name not in BUSIEST),
    re_path(r"", NotFoundEndpoint.as_view({"get": "nowhere"}), name="nowhere"),
]
