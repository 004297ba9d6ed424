"""The only path of this module that browsers request at the root of a domain. It lists the origins
on other domains that may use the passkeys (WebAuthn Level 3, section 5.11).

    urlpatterns = [path("", include("authservice.passkeys.root_urls")), ...]

Mount it on the host that is `PASSKEYS.RP_ID`.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.views.decorators.http import require_safe

from authservice.passkeys import relying_party
from authservice.passkeys.conf import ANDROID


@require_safe
def related_origins(request: HttpRequest) -> HttpResponse:
    """All pages of the settings. Apps are left out: other files link them to the domain."""
    origins = relying_party.origins()
    pages = [origin for origin in origins if not origin.startswith(ANDROID)]
    return JsonResponse({"origins": pages})


urlpatterns = [
    path(relying_party.WELL_KNOWN, related_origins, name="authservice-webauthn-origins"),
]
