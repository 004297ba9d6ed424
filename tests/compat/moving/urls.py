from django.conf import settings
from django.urls import include, path
from rest_framework.decorators import api_view, authentication_classes, permission_classes
from rest_framework.permissions import IsAuthenticated
from rest_framework.response import Response
from rest_framework_simplejwt.authentication import JWTAuthentication

from authservice.authentication import AuthserviceAuthentication

CLASSES = [AuthserviceAuthentication]
if settings.STAGE != "alone":
    CLASSES.append(JWTAuthentication)


@api_view()
@authentication_classes(CLASSES)
@permission_classes([IsAuthenticated])
def mine(request):
    """A view of the project."""
    return Response({"user": str(request.user.pk)})


urlpatterns = [path("auth/", include("authservice.urls")), path("mine/", mine)]
if settings.STAGE == "both" and settings.OLD == "rest_auth":
    urlpatterns.append(path("old/", include("dj_rest_auth.urls")))
elif settings.STAGE == "both":
    urlpatterns += [
        path("old/", include("djoser.urls")),
        path("old/", include("djoser.urls.jwt")),
    ]
elif settings.STAGE == "ours":
    # Clients that were never changed keep their paths.
    urlpatterns.append(path("old/", include("authservice.compat.simplejwt.urls")))
