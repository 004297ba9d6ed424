"""Health checks for load balancers and orchestrators, without authentication.

    urlpatterns = [path("healthz", include("authservice.health")), ...]

`GET /healthz` is 200 as long as the process responds (liveness), and queries no database. `GET
/healthz/ready` is 200 if the database of the users responds, else 503 (readiness). A project has
neither unless it includes them.
"""

from __future__ import annotations

from collections.abc import Callable

from django.contrib.auth.decorators import login_not_required
from django.db import Error, connections, transaction
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import path, re_path
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from authservice.kernel import databases


def _check(view: Callable[[HttpRequest], JsonResponse]) -> Callable[..., HttpResponseBase]:
    """A view that no middleware of the project refuses (LoginRequiredMiddleware, CSRF) and that
    opens no transaction by itself (ATOMIC_REQUESTS)."""
    open_to_all = login_not_required(csrf_exempt(require_safe(never_cache(view))))
    return transaction.non_atomic_requests(open_to_all)


@_check
def live(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "ok"})


@_check
def ready(request: HttpRequest) -> JsonResponse:
    connection = connections[databases.primary()]
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error:
        # Django closes the broken connection when the request ends.
        return JsonResponse({"status": "unavailable"}, status=503)
    return JsonResponse({"status": "ok"})


urlpatterns = [
    path("", live, name="live"),
    # Django's check `urls.W002` warns of a route that begins with a plain slash.
    re_path(r"^[/]ready$", ready, name="ready"),
]
