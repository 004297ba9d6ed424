"""Django admin of the example project is protected as the docs recommend."""

import json

from tests.hosts.runs import python

SCRIPT = """
import json, django
django.setup()
from django.contrib import admin
from django.contrib.auth.models import User
from authservice.core.staff.admin_pages import SuperAdminGuard
from authservice.core.staff import checks as ours
import example_project.urls
page = admin.site.get_model_admin(User)
print(json.dumps([
    f"{admin.site.login_form.__module__}.{admin.site.login_form.__qualname__}",
    admin.site.login_template,
    isinstance(page, SuperAdminGuard),
    [inline.__name__ for inline in page.inlines],
    [
        message.id
        for check in (ours.check_admin_login, ours.check_password_change, ours.check_user_pages)
        for message in check()
    ],
]))
"""


def test_admin_site_of_the_example_limits_logins_and_guards_superusers():
    run = python("-c", SCRIPT, DJANGO_SETTINGS_MODULE="example_project.settings")

    assert run.returncode == 0, run.stdout
    assert json.loads(run.stdout.splitlines()[-1]) == [
        "authservice.core.staff.login_form.AdminAuthenticationForm",
        "authservice/core/admin-login.html",
        True,
        ["AccountInline"],
        [],
    ]
