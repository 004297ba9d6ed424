from django.urls import include, path

urlpatterns = [path("", include("authservice.urls"))]
