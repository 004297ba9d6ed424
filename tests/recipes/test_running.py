"""The code of docs/running does what the pages say."""

import subprocess
import sys
from unittest import mock

import django
import pytest
from django.conf import settings
from django.core import checks
from django.test import RequestFactory, override_settings

from tests.hosts.runs import ROOT
from tests.support.documented import Page

RUNNING, INSTALLING = Page("running"), Page("installing")
# The settings of a mail server, in the form of this version of Django.
SMTP = "django.core.mail.backends.smtp.EmailBackend"
MAIL = "MAILERS = {" if django.VERSION >= (6, 1) else "EMAIL_HOST_USER"
WORKERS, MACHINES, MONITORING = map(
    Page, ("running/workers", "running/machines", "running/monitoring")
)
_SECURITY = (
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
)
TAGS = ("authservice", checks.Tags.security, checks.Tags.caches)
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


def test_documented_settings_of_production_leave_only_the_warnings_that_the_page_names(monkeypatch):
    """On a database server, with the cache of the page and a mail server."""
    names = {"AUTHSERVICE": {"FRONTEND": {"URL": "https://app.example.com"}}, "DATABASES": {}}
    names["DATABASES"]["default"] = {"ENGINE": "django.db.backends.postgresql", "OPTIONS": {}}
    for code in RUNNING.code("python"):
        if "SECURE_HSTS_SECONDS" in code or "CACHES" in code:
            exec(code, names)
    monkeypatch.setenv("SMTP_PASSWORD", "secret")
    [mail] = [code for code in INSTALLING.code("python") if MAIL in code and "587" in code]
    exec(mail, names)
    database = names.pop("DATABASES")["default"]
    given = {name: value for name, value in names.items() if name.isupper()}
    if django.VERSION < (6, 1):
        given["EMAIL_BACKEND"] = SMTP  # the tests replace the default
    with (
        mock.patch.dict(settings.DATABASES["default"], database),
        override_settings(
            **given,
            INSTALLED_APPS=[*settings.INSTALLED_APPS, "authservice.notification"],
            ALLOWED_HOSTS=["api.example.com"],
            SECRET_KEY="".join(map(chr, range(33, 120))),
            MIDDLEWARE=[*_SECURITY, *settings.MIDDLEWARE],
            PASSWORD_HASHERS=["authservice.hashers.Argon2id"],
        ),
    ):
        warnings = {
            entry.id
            for entry in checks.run_checks(tags=TAGS, include_deployment_checks=True)
            if entry.level >= checks.WARNING
        }

    assert warnings == {"security.W005", "security.W021"}


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
