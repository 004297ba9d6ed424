"""The API, and Django admin with the account inline on the page of its user; on a second site the
page of users has `SuperAdminGuard`."""

from django.contrib import admin
from django.contrib.auth import get_user_model
from django.contrib.auth.admin import UserAdmin
from django.urls import include, path

from authservice.core.admin import AccountInline
from authservice.core.staff.admin_pages import SuperAdminGuard
from authservice.core.staff.admin_site import protect
from tests.support.people import has

User = get_user_model()
_RIGHTS = ("is_superuser", "is_staff", "groups", "user_permissions")


class PlainUserAdmin(UserAdmin if has("username") else admin.ModelAdmin):
    inlines = (AccountInline,)
    if not has("username"):
        fields = ("email", "is_active", "is_staff", "is_superuser")


class Membership(admin.TabularInline):
    model = User.groups.through
    extra = 0


class GuardedAdmin(SuperAdminGuard, UserAdmin if has("username") else admin.ModelAdmin):
    inlines = (Membership,)
    list_display = ("pk", "is_active", "is_staff")
    list_editable = ("is_active", "is_staff")
    if has("username"):
        _new = (*UserAdmin.add_fieldsets[0][1]["fields"], "email")
        add_fieldsets = ((None, {"fields": (*_new, *_RIGHTS)}),)
    else:
        fields = ("email", "is_active", *_RIGHTS)


if admin.site.is_registered(User):
    admin.site.unregister(User)
guarded = admin.AdminSite(name="guarded")
guarded.register(User, GuardedAdmin)

for site in (admin.site, guarded):
    protect(site)
# Registered later, so that `protect` adds no guard.
admin.site.register(User, PlainUserAdmin)

urlpatterns = [
    path("admin/", admin.site.urls),
    path("guarded/", guarded.urls),
    path("auth/", include("authservice.urls")),
]
