"""Paths of the API description, below the mount."""

from django.urls import path

from authservice.openapi import views

urlpatterns = [
    path("openapi.yaml", views.Yaml.as_view({"get": "fetch"}), name="schema"),
    path("openapi.json", views.Json.as_view({"get": "fetch"}), name="schema-json"),
    path("docs", views.SwaggerUI.as_view({"get": "show"}), name="docs"),
    path("redoc", views.Redoc.as_view({"get": "show"}), name="redoc"),
    path("docs/<str:name>", views.Asset.as_view({"get": "fetch"}), name="docs-asset"),
]
