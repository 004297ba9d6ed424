"""The code of docs/running does what the pages say."""

import subprocess
import sys

import pytest
from django.test import RequestFactory

from tests.hosts.runs import ROOT
from tests.support.documented import Page

WORKERS, MACHINES, MONITORING = map(
    Page, ("running/workers", "running/machines", "running/monitoring")
)
START = """
import django
django.setup()
exec({code!r})
app.loader.import_default_modules()
print("authservice.notification.deliver" in app.tasks)
"""


@pytest.mark.once
def test_documented_app_of_celery_finds_the_task():
    (code,) = [code for name, code in WORKERS.files() if name == "project/celery"]
    code = code.replace("project.settings", "tests.notification.celery_settings")
    ran = subprocess.run(
        [sys.executable, "-c", START.format(code=code)],
        cwd=ROOT,
        env={
            "DJANGO_SETTINGS_MODULE": "tests.notification.celery_settings",
            "TEST_DATABASE": ":memory:",
            "TEST_BROKER": "memory://",
            "TEST_QUEUE": "q",
            "TEST_SMTP_PORT": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.stdout == "True\n", ran.stderr


def test_documented_router_keeps_users_and_the_service_together():
    names = {}
    (code,) = [code for code in MACHINES.code("python") if "class People" in code]
    exec(code, names)
    router = names["People"]()

    assert router.allow_migrate("people", "authservice_core") is True
    assert router.allow_migrate("default", "accounts") is False
    assert router.allow_migrate("default", "shop") is None


def test_documented_middleware_gives_the_request_an_id():
    middleware = MONITORING.names("project/request_id")["request_id"](
        lambda request: request.headers["X-Request-ID"]
    )

    assert middleware(RequestFactory().get("/", headers={"X-Request-ID": "abc"})) == "abc"
    assert len(middleware(RequestFactory().get("/"))) == 32
