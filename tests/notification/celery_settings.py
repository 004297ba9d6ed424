"""Settings of a project that sends e-mail by Celery; web server and worker are two processes."""

import os

from example_project.mail import mailer
from tests.settings import *  # noqa: F403
from tests.settings import AUTHSERVICE, INSTALLED_APPS
from tests.support.mailing import mail_settings

INSTALLED_APPS = [*INSTALLED_APPS, "authservice.notification"]
AUTHSERVICE = {
    **AUTHSERVICE,
    "NOTIFICATION": {"DISPATCHER": "celery", "BACKOFF": 0.5, "RETRIES": 20},
}
DATABASES = {
    "default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ["TEST_DATABASE"]}
}
CELERY_BROKER_URL = os.environ["TEST_BROKER"]
CELERY_TASK_DEFAULT_QUEUE = os.environ["TEST_QUEUE"]
CELERY_BROKER_CONNECTION_TIMEOUT = 2
globals().update(mailer(f"smtp://127.0.0.1:{os.environ['TEST_SMTP_PORT']}"))
if "TEST_LANGUAGE" in os.environ:
    module = "tests.notification.celery_state"
    AUTHSERVICE["NOTIFICATION"] |= {"CAPTURE": f"{module}.capture", "RESTORE": f"{module}.restore"}
    port = os.environ["TEST_SMTP_PORT"]
    globals().update(mail_settings(f"{module}.EmailBackend", host="127.0.0.1", port=port))
