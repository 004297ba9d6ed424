"""The service below its base path, and Django admin."""

from django.conf import settings
from django.contrib import admin
from django.urls import include, path

from authservice.core.staff.admin_site import protect

# Without it, Django admin neither limits password attempts nor requires a second factor.
protect(admin.site)

# An empty path stays empty, so that authservice's own system check can report it.
base = f"{settings.AUTHSERVICE_BASE_PATH.strip('/')}/".lstrip("/")

# "View site" in Django admin.
admin.site.site_url = "/" if settings.CONSOLE else None

urlpatterns = [
    path("admin/", admin.site.urls),
    path(base, include("authservice.urls")),
]
if settings.CONSOLE:
    urlpatterns.append(path("", include("example_project.console.urls")))
