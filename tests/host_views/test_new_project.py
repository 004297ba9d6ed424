"""A new project protects its own views of every kind by the lines of docs/views.rst."""

import difflib
import os
import subprocess
import sys

import pytest

from tests.host_views import recipes
from tests.host_views.new_project import VIEWS
from tests.hosts.runs import ROOT

MOST = 12
OWN = {
    "views.py": """\
from django.http import JsonResponse
from rest_framework.permissions import IsAuthenticated
from rest_framework.response import Response
from rest_framework.views import APIView


class Rest(APIView):
    permission_classes = [IsAuthenticated]

    def get(self, request):
        return Response({"email": request.user.email})


def plain(request):
    return JsonResponse({"email": request.user.email})


async def later(request):
    user = await request.auser()
    return JsonResponse({"email": user.email})
""",
    "api.py": """\
from ninja import NinjaAPI

api = NinjaAPI()


@api.get("/invoices")
def invoices(request):
    return {"email": request.user.email}


@api.get("/export")
async def export(request):
    user = await request.auser()
    return {"email": user.email}
""",
    "urls.py": """\
from django.urls import path

from site_ import views
from site_.api import api

urlpatterns = [
    path("rest", views.Rest.as_view()),
    path("plain", views.plain),
    path("later", views.later),
    path("api/", api.urls),
]
""",
}


def protected(files):
    """The files after the lines of the page."""
    added = {}
    for line in recipes.block("# views.py: then").splitlines():
        if line.startswith("# "):
            name = line.split()[1].removesuffix(":")
        elif line:
            added.setdefault(name, []).append(line)
    (api,) = added.pop("api.py")
    after = dict(files)
    after["api.py"] = files["api.py"].replace("api = NinjaAPI()", api)
    imports = "\n".join(added.pop("views.py"))
    guarded = files["views.py"].replace("\ndef ", "\n@login_required\ndef ")
    after["views.py"] = f"{imports}\n{guarded}".replace("\nasync", "\n@login_required\nasync")
    for name, lines in added.items():
        after[name] = files[name] + "\n".join(lines) + "\n"
    return after


def changed_lines(before, after):
    return sum(
        line.startswith("+ ") and line != "+ "
        for name in before
        for line in difflib.ndiff(before[name].splitlines(), after[name].splitlines())
    )


@pytest.fixture
def project(tmp_path):
    """Runs Python in a new project with these files."""

    def run(*arguments):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("DJANGO_", "PYTEST_"))}
        paths = os.pathsep.join(map(str, (tmp_path, ROOT)))
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env={**kept, "PYTHONPATH": paths, "DJANGO_SETTINGS_MODULE": "site_.settings"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("-m", "django", "startproject", "site_", str(tmp_path))
    run.folder = tmp_path / "site_"
    return run


@pytest.mark.slow
def test_new_project_with_views_of_every_kind_refuses_ended_sessions(project):
    before = {"settings.py": (project.folder / "settings.py").read_text(), **OWN}
    after = protected(before)
    for name, text in after.items():
        (project.folder / name).write_text(text)

    tried = project("-m", "tests.host_views.new_project").splitlines()

    assert changed_lines(before, after) <= MOST
    assert len(tried) == len(VIEWS) * 4  # both handlers, both kinds of token
