"""Health checks for load balancers and orchestrators, without authentication.

    urlpatterns = [path("healthz", include("authservice.health")), ...]

`GET /healthz` says that the process answers (liveness) and asks nothing else. `GET /healthz/ready`
is 200 if the database of the users answers, else 503 (readiness). Both are off unless a project
includes them.
"""

from __future__ import annotations

from collections.abc import Callable

from django.contrib.auth.decorators import login_not_required
from django.db import Error, connections, transaction
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import path
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from authservice.kernel import databases


def _check(view: Callable[[HttpRequest], JsonResponse]) -> Callable[..., HttpResponseBase]:
    """A view that no setting of the project refuses (LoginRequiredMiddleware, CSRF) and that asks
    the database nothing by itself (ATOMIC_REQUESTS)."""
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
        # A broken connection must not outlive the request: the next check opens a new one.
        if not connection.in_atomic_block:
            connection.close()
        return JsonResponse({"status": "unavailable"}, status=503)
    return JsonResponse({"status": "ok"})


urlpatterns = [path("", live, name="live"), path("/ready", ready, name="ready")]
