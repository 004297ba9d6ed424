"""The routes of the example project, and health checks, which HAProxy asks for."""

from django.urls import include, path

from example_project.urls import urlpatterns as example

urlpatterns = [*example, path("healthz", include("authservice.health"))]
