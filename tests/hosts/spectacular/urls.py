from django.urls import include, path
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework import serializers
from rest_framework.decorators import api_view, authentication_classes, permission_classes
from rest_framework.permissions import IsAuthenticated
from rest_framework.response import Response

from authservice.authentication import AuthserviceAuthentication


class UserSerializer(serializers.Serializer):
    """A component of the host with the name of a component of authservice."""

    shoe_size = serializers.IntegerField()


@extend_schema(responses=UserSerializer)
@api_view()
@authentication_classes([AuthserviceAuthentication])
@permission_classes([IsAuthenticated])
def me(request):
    return Response({"shoe_size": 42})


urlpatterns = [
    path("auth/", include("authservice.urls")),
    path("me/", me),
    path("schema/", SpectacularAPIView.as_view()),
]
