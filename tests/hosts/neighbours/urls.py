from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.urls import include, path

from authservice.core.staff.admin_pages import SuperAdminGuard
from authservice.core.staff.admin_site import protect


class GuardedUserAdmin(SuperAdminGuard, UserAdmin):
    """Only superusers change rights on this page; a system check warns about the page of Django."""


protect(admin.site)
admin.site.unregister(User)
admin.site.register(User, GuardedUserAdmin)

urlpatterns = [
    path("", lambda request: HttpResponse("the host's own page")),
    path("auth/", include("authservice.urls")),
    path("admin/", admin.site.urls),
    path("accounts/", include("allauth.urls")),
    path("organizations/", include("organizations.urls")),
]
