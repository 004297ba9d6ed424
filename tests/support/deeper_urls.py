"""A host that mounts the service deeper."""

from django.urls import include, path

urlpatterns = [path("api/v1/accounts/", include("authservice.urls"))]
