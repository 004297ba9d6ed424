"""The example project under the terms of the benchmark."""

from example_project.settings import *  # noqa: F403
from example_project.settings import AUTHSERVICE as EXAMPLE
from example_project.settings import INSTALLED_APPS
from tests.benchmarks import terms
from tests.support.mailing import mail_settings

ROOT_URLCONF = "tests.benchmarks.urls"
SECRET_KEY = terms.SECRET_KEY
DEBUG = False
ALLOWED_HOSTS = ["*"]
DATABASES = terms.databases()
PASSWORD_HASHERS = terms.PASSWORD_HASHERS
AUTH_PASSWORD_VALIDATORS = terms.AUTH_PASSWORD_VALIDATORS
MIDDLEWARE = terms.MIDDLEWARE
LOGGING = terms.LOGGING
globals().update(mail_settings("dummy"))
# One address sends all the load. Limits on password attempts stay on: this setting is not for them.
AUTHSERVICE = {
    **EXAMPLE,
    "CORE": {**EXAMPLE["CORE"], "HASHES_IN_FLIGHT": terms.HASHES_IN_FLIGHT},
    "THROTTLE": {"ENABLED": False},
}
if "authservice.notification" in INSTALLED_APPS:
    # Neither side sends e-mail, but jobs are created and passed to the dispatcher all the same.
    AUTHSERVICE["NOTIFICATION"] = {"DISPATCHER": "tests.benchmarks.terms.drop"}
