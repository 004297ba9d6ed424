"""The default site of Django admin at `admin/`, the one that requires a code at `otp/`."""

from django.contrib import admin
from django.contrib.auth import get_user_model
from django.urls import path
from django_otp.admin import OTPAdminSite

from tests.admin.urls import urlpatterns as others

guarded = OTPAdminSite()
guarded.register(get_user_model(), admin.ModelAdmin)

urlpatterns = [path("otp/", guarded.urls), *others]
