from importlib import import_module

from django.conf import settings
from django.http import JsonResponse
from django.urls import include, path
from rest_framework.authentication import SessionAuthentication
from rest_framework.decorators import api_view, authentication_classes, permission_classes
from rest_framework.permissions import IsAuthenticated
from rest_framework.response import Response
from rest_framework_simplejwt.authentication import JWTAuthentication

from authservice.authentication import AuthserviceAuthentication

CLASSES = [AuthserviceAuthentication]
if settings.OLD == "two_factor":
    CLASSES.append(SessionAuthentication)
elif settings.STAGE != "alone":
    CLASSES.append(JWTAuthentication)


@api_view()
@authentication_classes(CLASSES)
@permission_classes([IsAuthenticated])
def mine(request):
    """A view of the project."""
    return Response({"user": str(request.user.pk)})


def page(request):
    """Another view of the project."""
    verified = bool(request.user.is_authenticated and request.user.is_verified())
    return JsonResponse({"user": request.user.get_username(), "verified": verified})


urlpatterns = [
    path("auth/", include("authservice.urls")),
    path("mine/", mine),
    path("page/", page),
]
if settings.OLD == "two_factor":
    if settings.STAGE == "both":
        pages = import_module("two_factor.urls").urlpatterns
        urlpatterns.append(path("", include(pages)))
elif settings.STAGE == "both" and settings.OLD == "rest_auth":
    urlpatterns.append(path("old/", include("dj_rest_auth.urls")))
elif settings.STAGE == "both":
    urlpatterns += [
        path("old/", include("djoser.urls")),
        path("old/", include("djoser.urls.jwt")),
    ]
elif settings.STAGE == "ours":
    # Clients that were never changed keep their paths.
    urlpatterns.append(path("old/", include("authservice.compat.simplejwt.urls")))
