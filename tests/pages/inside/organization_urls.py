"""Views of a project about the active organization, beside those that know only Django."""

from django.contrib.auth import get_user_model, login
from django.http import HttpResponse, JsonResponse
from django.urls import path

from authservice.organization.decorators import (
    organization_member_required,
    organization_permission_required,
    organization_role_required,
)
from tests.pages.inside.urls import urlpatterns as others


def shown(request):
    return JsonResponse({"slug": request.organization.slug, "role": request.organization_role})


async def shown_async(request):
    return shown(request)


def django_login(request, pk):
    """Another package logs in a user with Django's own login: no session of the service begins."""
    user = get_user_model().objects.get(pk=pk)
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return HttpResponse()


urlpatterns = [
    path("team/members", organization_member_required(shown)),
    path("team/admins", organization_role_required("admin")(shown)),
    path("team/exports", organization_permission_required("reports.export")(shown)),
    path("team/members-async", organization_member_required(shown_async)),
    path("team/admins-async", organization_role_required("admin")(shown_async)),
    path("team/page", organization_role_required("admin", redirect=True)(shown)),
    path("team/page-async", organization_member_required(redirect=True)(shown_async)),
    path("django-login/<pk>", django_login),
    *others,
]
