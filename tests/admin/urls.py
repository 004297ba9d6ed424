"""The service, and Django admin with the account on the page of its user."""

from django.contrib import admin
from django.contrib.auth import get_user_model
from django.contrib.auth.admin import UserAdmin
from django.urls import include, path

from authservice.core.admin import AccountInline
from authservice.core.staff.login_form import AdminAuthenticationForm
from tests.people import has

User = get_user_model()


class PeopleAdmin(UserAdmin if has("username") else admin.ModelAdmin):
    inlines = (AccountInline,)
    if not has("username"):
        fields = ("email", "is_active", "is_staff", "is_superuser")


if admin.site.is_registered(User):
    admin.site.unregister(User)
admin.site.register(User, PeopleAdmin)

admin.site.login_form = AdminAuthenticationForm
admin.site.login_template = "authservice/core/admin-login.html"

urlpatterns = [path("admin/", admin.site.urls), path("auth/", include("authservice.urls"))]
