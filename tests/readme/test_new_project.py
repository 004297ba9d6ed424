"""A project from `startproject` with the lines of the README prints no warning, and its Django
admin is protected."""

import ast
import sys

import pytest
from django.core.management import call_command

from tests.snippets.blocks import of_page
from tests.support.processes import environment, output_of

SNIPPETS = {
    "README": ("README.rst", "# urls.py\n"),
    "installing": ("docs/installing.rst", "# urls.py\n"),
}
# Slow with the second page, since each project takes several starts of Django.
PAGES = ["README", pytest.param("installing", marks=pytest.mark.slow)]
# What staff with the permission to change users see, from a URLconf that read the site first.
SCRIPT = """
import json
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.test import Client

staff = User.objects.create(username="staff", is_staff=True)
staff.user_permissions.set(Permission.objects.filter(codename="change_user"))
other = User.objects.create(username="other")
boss = User.objects.create(username="boss", is_superuser=True)
client = Client(headers={"host": "localhost"})
client.force_login(staff)
page = client.get(f"/admin/auth/user/{other.pk}/change/").content.decode()
print(json.dumps([
    'name="username"' in page,
    'name="is_superuser"' in page,
    'name="username"' in client.get(f"/admin/auth/user/{boss.pk}/change/").content.decode(),
    type(client.get("/admin/password_change/").context_data["form"]).__module__,
    type(Client(headers={"host": "localhost"}).get("/admin/login/").context_data["form"]).__name__,
]))
"""


def lines(page, separator):
    """Settings and URLconf that a page adds to a project."""
    code = next(block.code for block in of_page(page) if separator in block.code)
    settings, urls = code.split(separator)
    ast.parse(urls)
    return settings, urls


@pytest.fixture(scope="module", params=PAGES)
def manage(request, tmp_path_factory):
    """Runs a command of the new project and returns all that it prints."""
    folder = tmp_path_factory.mktemp("new")
    call_command("startproject", "shop", folder)
    settings, urls = lines(*SNIPPETS[request.param])
    for name, added in (("settings", settings), ("urls", urls)):
        with (folder / "shop" / f"{name}.py").open("a") as file:
            file.write(f"\n{added}")

    def run(*command):
        return output_of(
            sys.executable, "manage.py", *command, variables=environment(), folder=folder
        )

    return run


@pytest.fixture(scope="module")
def migrated(manage):
    """What the command prints, which runs the checks first."""
    return manage("migrate", "--verbosity=0")


def test_new_project_checks_and_migrates_without_a_warning(manage, migrated):
    assert migrated == ""
    assert manage("check", "--database=default") == (
        "System check identified no issues (0 silenced).\n"
    )


def test_new_project_protects_django_admin_at_the_end_of_urls(manage, migrated):
    assert manage("shell", "--verbosity=0", "-c", SCRIPT).splitlines()[-1] == (
        '[true, false, false, "authservice.core.staff.password_form", "AdminAuthenticationForm"]'
    )
