"""URLs of a host with views of every kind and the service."""

from django.contrib.auth.decorators import login_not_required
from django.http import JsonResponse
from django.urls import include, path
from django.views.decorators.csrf import csrf_exempt
from rest_framework.permissions import IsAuthenticated
from rest_framework.response import Response
from rest_framework.serializers import CharField, Serializer
from rest_framework.views import APIView

from authservice.authentication import AuthserviceAuthentication
from authservice.decorators import login_required, proven
from authservice.permissions import (
    IsEmailVerified,
    IsSuperAdmin,
    Proven,
    SignedInWithin,
    UsedSecondFactor,
)


def shown(request):
    # Another authentication class sets `auth` to what it likes.
    claims = getattr(getattr(request, "auth", None), "claims", {})
    return {"email": getattr(request.user, "email", ""), "sid": claims.get("sid", "")}


def plain(request):
    return JsonResponse(shown(request))


async def later(request):
    user = await request.auser()
    return JsonResponse({"email": getattr(user, "email", "")})


@login_required
def mine(request):
    return JsonResponse(shown(request))


@login_required
async def mine_later(request):
    user = await request.auser()
    return JsonResponse({"email": user.email, "sid": request.auth.claims["sid"]})


class Note(Serializer):
    text = CharField(max_length=5)


class Notes(APIView):
    authentication_classes = (AuthserviceAuthentication,)
    permission_classes = (IsAuthenticated,)

    def get(self, request):
        return Response(shown(request))

    def post(self, request):
        Note(data=request.data).is_valid(raise_exception=True)
        return Response(shown(request))


def guarded(*permissions):
    view = type("Guarded", (Notes,), {"permission_classes": permissions})
    return view.as_view()


urlpatterns = [
    path("auth/", include("authservice.urls")),
    path("plain", csrf_exempt(plain)),
    path("later", csrf_exempt(later)),
    # The views of every site of Django admin have this name.
    path("admin/", include(([path("", plain)], "admin"), namespace="backoffice")),
    path("mine", csrf_exempt(mine)),
    path("mine-later", csrf_exempt(mine_later)),
    path("page", login_required(redirect=True)(plain)),
    path("page-at", login_required(login_url="/enter")(plain)),
    path("open", login_not_required(plain)),
    path("notes", Notes.as_view()),
    path("verified", guarded(IsEmailVerified)),
    path("super", guarded(IsSuperAdmin)),
    path("factor", guarded(UsedSecondFactor)),
    path("recent", guarded(SignedInWithin(minutes=10))),
    path("proven", guarded(Proven("aal2", max_age=600))),
    path("proven-own", guarded(Proven())),
    path("proven-plain", csrf_exempt(proven("aal2", 600)(plain))),
    path("proven-later", csrf_exempt(proven("aal2", 600)(later))),
    path("proven-page", proven("aal2", 600, redirect=True)(plain)),
]
