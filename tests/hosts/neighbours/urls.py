from django.contrib import admin
from django.http import HttpResponse
from django.urls import include, path

from authservice.core.staff.login_form import AdminAuthenticationForm

admin.site.login_form = AdminAuthenticationForm
admin.site.login_template = "authservice/core/admin-login.html"

urlpatterns = [
    path("", lambda request: HttpResponse("the host's own page")),
    path("auth/", include("authservice.urls")),
    path("admin/", admin.site.urls),
    path("accounts/", include("allauth.urls")),
    path("organizations/", include("organizations.urls")),
]
