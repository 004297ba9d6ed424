"""Users in Django admin with their account; only superusers may change superusers and rights."""

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User

from authservice.core.admin import AccountInline
from authservice.core.staff.admin_pages import SuperAdminGuard

admin.site.unregister(User)


@admin.register(User)
class PeopleAdmin(SuperAdminGuard, UserAdmin):
    inlines = (AccountInline,)
