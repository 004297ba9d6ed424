from django.urls import include, path
from rest_framework.decorators import api_view
from rest_framework.response import Response
from rest_framework_simplejwt import views


@api_view()
def mine(request):
    """A view of the host that requires a token of the host."""
    return Response({"user": str(request.user.pk)})


urlpatterns = [
    path("auth/", include("authservice.urls")),
    path("token/", views.TokenObtainPairView.as_view()),
    path("token/refresh/", views.TokenRefreshView.as_view()),
    path("token/verify/", views.TokenVerifyView.as_view()),
    path("token/blacklist/", views.TokenBlacklistView.as_view()),
    path("mine/", mine),
]
