"""A project of django-tenants: users and all rows of authservice are in the schema of a tenant.

`accounts.tenants` and its settings are those of docs/notification.rst.
"""

import os

from tests.settings import *  # noqa: F403
from tests.settings import AUTHSERVICE, DATABASES, MIDDLEWARE
from tests.settings import INSTALLED_APPS as OTHERS
from tests.support.documented import Page
from tests.support.mailing import mail_settings

SHARED_APPS = ["django_tenants", "tests.tenants.customers.apps.Customers"]
TENANT_APPS = [*OTHERS, "authservice.notification"]
INSTALLED_APPS = [*SHARED_APPS, *TENANT_APPS]
TENANT_MODEL, TENANT_DOMAIN_MODEL = "customers.Customer", "customers.Domain"
DATABASES["default"]["ENGINE"] = "django_tenants.postgresql_backend"
DATABASE_ROUTERS = ["django_tenants.routers.TenantSyncRouter"]
MIDDLEWARE = ["django_tenants.middleware.main.TenantMainMiddleware", *MIDDLEWARE]
ALLOWED_HOSTS = ["*"]
# A folder, since the worker of Celery is another process.
globals().update(mail_settings("filebased", file_path=os.environ["TEST_MAILS"]))
CELERY_BROKER_URL = os.environ.get("TEST_BROKER", "")
CELERY_TASK_DEFAULT_QUEUE = os.environ.get("TEST_QUEUE", "")

AUTHSERVICE["NOTIFICATION"] = {"DISPATCHER": os.environ["DISPATCHER"], "BACKOFF": 0.2}
[hooks] = [code for code in Page("notification").code("python") if '"CAPTURE":' in code]
exec(hooks)
