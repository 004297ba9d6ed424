"""The URLconf for a project to include; names and paths are those of simplejwt's documentation."""

from django.urls import path

from authservice.compat.simplejwt import views

urlpatterns = [
    path("token/", views.token_obtain_pair, name="token_obtain_pair"),
    path("token/refresh/", views.token_refresh, name="token_refresh"),
    path("token/verify/", views.token_verify, name="token_verify"),
    path("token/blacklist/", views.token_blacklist, name="token_blacklist"),
]
