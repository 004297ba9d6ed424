"""The routes of the example project, and health checks."""

from django.urls import include, path

from example_project.urls import urlpatterns as example

urlpatterns = [path("healthz", include("authservice.health")), *example]
