"""The API, Django admin, and views of a host project about its active organization."""

from django.http import JsonResponse
from django.urls import path
from rest_framework.response import Response
from rest_framework.views import APIView

from authservice.authentication import AuthserviceAuthentication
from authservice.organization.decorators import (
    organization_member_required,
    organization_permission_required,
    organization_role_required,
)
from authservice.organization.permissions import (
    HasOrganizationPermission,
    HasOrganizationRole,
    IsOrganizationMember,
)
from tests.admin.urls import urlpatterns as others
from tests.organization.shop import views as shop


def shown(request):
    return {"slug": request.organization.slug, "role": request.organization_role}


class Members(APIView):
    authentication_classes = (AuthserviceAuthentication,)
    permission_classes = (IsOrganizationMember,)

    def get(self, request):
        assert request._request.organization == request.organization
        return Response(shown(request))


class Admins(Members):
    permission_classes = (HasOrganizationRole("admin"),)


class Exports(Members):
    permission_classes = (HasOrganizationPermission("reports.export"),)


class Either(Members):
    permission_classes = (HasOrganizationRole("owner") | IsOrganizationMember,)


@organization_member_required
def members(request):
    return JsonResponse(shown(request))


@organization_role_required("admin")
def admins(request):
    return JsonResponse(shown(request))


@organization_member_required
async def members_async(request):
    return JsonResponse(shown(request))


@organization_role_required("admin")
async def admins_async(request):
    return JsonResponse(shown(request))


@organization_permission_required("reports.export")
def exports(request):
    return JsonResponse(shown(request))


@organization_permission_required("reports.export")
async def exports_async(request):
    return JsonResponse(shown(request))


def user_of(request):
    return {"email": request.user.email, "org_id": request.auth.claims["org_id"]}


@organization_permission_required("reports.export")
def user(request):
    return JsonResponse(user_of(request))


@organization_member_required
async def user_async(request):
    assert (await request.auser()).pk == request.user.pk
    return JsonResponse(user_of(request))


def lazy(request):
    found = request.organization
    return JsonResponse({"slug": found.slug if found else ""})


async def lazy_async(request):
    found = await request.aorganization()
    return JsonResponse({"slug": found.slug if found else ""})


def untouched(request):
    return JsonResponse({})


urlpatterns = [
    path("pages/members", organization_member_required(redirect=True)(members)),
    path("pages/admins", organization_role_required("admin", login_url="/enter")(admins)),
    path(
        "pages/exports",
        organization_permission_required("reports.export", redirect=True)(exports_async),
    ),
    path("rest/members", Members.as_view()),
    path("rest/admins", Admins.as_view()),
    path("rest/either", Either.as_view()),
    path("plain/members", members),
    path("plain/admins", admins),
    path("async/members", members_async),
    path("async/admins", admins_async),
    path("rest/exports", Exports.as_view()),
    path("plain/exports", exports),
    path("async/exports", exports_async),
    path("plain/user", user),
    path("async/user", user_async),
    path("lazy", lazy),
    path("lazy-async", lazy_async),
    path("untouched", untouched),
    path("shop/names", shop.names),
    path("shop/rename", shop.rename),
    path("shop/create", shop.create),
    *others,
]
