from django.contrib import admin
from django.http import HttpResponse
from django.urls import include, path

urlpatterns = [
    path("", lambda request: HttpResponse("the host's own page")),
    path("auth/", include("authservice.urls")),
    path("admin/", admin.site.urls),
    path("accounts/", include("allauth.urls")),
    path("organizations/", include("organizations.urls")),
]
