from django.urls import include, path
from rest_framework.decorators import api_view, authentication_classes, permission_classes
from rest_framework.permissions import IsAuthenticated
from rest_framework.response import Response
from rest_framework_simplejwt import views
from rest_framework_simplejwt.authentication import JWTAuthentication

from authservice.authentication import AuthserviceAuthentication
from authservice.permissions import SignedInWithin


@api_view()
@authentication_classes([AuthserviceAuthentication, JWTAuthentication])
@permission_classes([IsAuthenticated])
def mine(request):
    """A view of the host for old and new clients."""
    return Response({"user": str(request.user.pk)})


@api_view()
@authentication_classes([AuthserviceAuthentication])
@permission_classes([SignedInWithin(minutes=10)])
def recent(request):
    """A view of the host for users who logged in recently."""
    return Response({})


urlpatterns = [
    path("auth/", include("authservice.urls")),
    path("api/", include("authservice.compat.simplejwt.urls")),
    path("old/token/", views.TokenObtainPairView.as_view()),
    path("old/token/refresh/", views.TokenRefreshView.as_view()),
    path("old/token/verify/", views.TokenVerifyView.as_view()),
    path("old/token/blacklist/", views.TokenBlacklistView.as_view()),
    path("mine/", mine),
    path("recent/", recent),
]
