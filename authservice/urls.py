"""The URLconf to include: the routes of all installed modules, then a 404 in the envelope."""

from typing import Any

from django.urls import re_path

from authservice.core.api.endpoint import NotFoundEndpoint
from authservice.core.api.guarded_routes import routes_of
from authservice.kernel.modules import installed

app_name = "authservice"

# Django matches routes in order, so the ones with the most requests come first.
BUSIEST = ("me", "refresh", "page-login", "login")
# One flat list instead of nested URLconfs: every level costs each request another match.
_ROUTES = [route for module in installed() for route in routes_of(module)]


def _rank(route: Any) -> int:
    if route.name in BUSIEST:
        return BUSIEST.index(route.name)
    # A page comes before the API route at the same address, and passes the requests of programs on
    # to it.
    return len(BUSIEST) + (not str(route.name).startswith("page-"))


urlpatterns = [
    *sorted(_ROUTES, key=_rank),
    re_path(r"", NotFoundEndpoint.as_view({"get": "not_found"}), name="unknown"),
]
