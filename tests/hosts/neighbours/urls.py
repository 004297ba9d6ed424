from django.contrib import admin
from django.http import HttpResponse
from django.urls import include, path

from authservice.core.staff.admin_site import protect

protect(admin.site)

urlpatterns = [
    path("", lambda request: HttpResponse("the host's own page")),
    path("auth/", include("authservice.urls")),
    path("admin/", admin.site.urls),
    path("accounts/", include("allauth.urls")),
    path("organizations/", include("organizations.urls")),
]
