"""Views of a project that are exempt from Django's check of forged requests."""

from django.http import JsonResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

from authservice.decorators import login_required, proven
from authservice.organization.decorators import (
    organization_member_required,
    organization_role_required,
)
from tests.host_views import recipes
from tests.pages.inside.urls import urlpatterns as others

ninja = recipes.run("@api.get")
ninja["api"].post("/invoices")(ninja["invoices"])
ninja["api"].post("/export")(ninja["export"])


def shown(request):
    organization = getattr(request, "organization", None)
    return JsonResponse(
        {
            "user": request.user.get_username(),
            "auth": bool(request.auth),
            "organization": organization.slug if organization else "",
        }
    )


async def shown_async(request):
    await request.auser()
    if hasattr(request, "aorganization"):
        await request.aorganization()
    return shown(request)


urlpatterns = [
    path("api/", ninja["api"].urls),
    path("recipe", recipes.run("delete_invoices")["delete_invoices"]),
    path("exempt/login", csrf_exempt(login_required(shown))),
    path("exempt/login-async", csrf_exempt(login_required(shown_async))),
    path("exempt/page", csrf_exempt(login_required(redirect=True)(shown))),
    path("exempt/proven", csrf_exempt(proven("aal1")(shown))),
    path("exempt/member", csrf_exempt(organization_member_required(shown))),
    path("exempt/admin", csrf_exempt(organization_role_required("admin")(shown))),
    path("exempt/admin-async", csrf_exempt(organization_role_required("admin")(shown_async))),
    path("exempt/plain", csrf_exempt(shown)),
    path("exempt/plain-async", csrf_exempt(shown_async)),
    path("checked/plain", shown),
    *others,
]
