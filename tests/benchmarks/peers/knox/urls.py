"""The login of the package's documentation, and a view of the signed-in user, which it lacks."""

from django.contrib import admin
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.urls import path
from knox.views import LoginView
from rest_framework import permissions, serializers
from rest_framework.authtoken.serializers import AuthTokenSerializer
from rest_framework.generics import RetrieveAPIView


class UserSerializer(serializers.ModelSerializer):
    class Meta:
        model = User
        fields = ["id", "username", "email"]


class Login(LoginView):
    permission_classes = (permissions.AllowAny,)

    def post(self, request, format=None):
        serializer = AuthTokenSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        login(request, serializer.validated_data["user"])
        return super().post(request, format=None)


class Me(RetrieveAPIView):
    serializer_class = UserSerializer
    permission_classes = (permissions.IsAuthenticated,)

    def get_object(self):
        return self.request.user


urlpatterns = [
    path("admin/", admin.site.urls),
    path("auth/login", Login.as_view()),
    path("auth/me", Me.as_view()),
]
