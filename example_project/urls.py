"""The service under its base path, Django admin beside it."""

from django.conf import settings
from django.contrib import admin
from django.urls import include, path

from authservice.core.staff.admin_site import protect

# Without it Django admin does not limit attempts at passwords or ask for a second factor.
protect(admin.site)

# An empty path stays empty, so that authservice's own check can say what is wrong with it.
base = f"{settings.AUTHSERVICE_BASE_PATH.strip('/')}/".lstrip("/")

urlpatterns = [
    path("admin/", admin.site.urls),
    path(base, include("authservice.urls")),
]
