"""A host that renders its pages with Django and knows only Django's session; `PAGES_LOGIN` selects
the login module, and `PAGES_WITHOUT` leaves modules out."""

import os

from tests.settings import *  # noqa: F403
from tests.settings import INSTALLED_APPS as OTHERS

INSTALLED_APPS = [
    *OTHERS,
    "django.contrib.sessions",
    "authservice.magiclink",
    "authservice.notification",
    "authservice.organization",
    "authservice.audit",
    "authservice.pages",
    "tests.support.messenger.apps.PostOffice",
]
if os.environ.get("PAGES_LOGIN") == "session":
    INSTALLED_APPS[INSTALLED_APPS.index("authservice.stateless")] = "authservice.session"
LEFT_OUT = os.environ.get("PAGES_WITHOUT", "").split()
INSTALLED_APPS = [app for app in INSTALLED_APPS if app.removeprefix("authservice.") not in LEFT_OUT]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "authservice.middleware.AuthserviceMiddleware",
]
# As in a new project. The engine of the package compiles each template again after each change of a
# setting; hosts without `TEMPLATES` use that one, as the other tests of this folder do.
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}]
ROOT_URLCONF = "tests.pages.inside.urls"
LOGIN_URL = "authservice:page-login"
# Nothing that the server could delete: only rows of the service end a session.
SESSION_ENGINE = "django.contrib.sessions.backends.signed_cookies"
