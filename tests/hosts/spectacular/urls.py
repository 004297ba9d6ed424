from django.urls import include, path
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.response import Response


class UserSerializer(serializers.Serializer):
    """A component of the host's, by a name that ours has too."""

    shoe_size = serializers.IntegerField()


@extend_schema(responses=UserSerializer)
@api_view()
def me(request):
    return Response({"shoe_size": 42})


urlpatterns = [
    path("auth/", include("authservice.urls")),
    path("me/", me),
    path("schema/", SpectacularAPIView.as_view()),
]
