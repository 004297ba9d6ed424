"""A host with two sites of Django admin: the default one, and one of django-otp."""

from tests.admin.settings import *  # noqa: F403
from tests.admin.settings import INSTALLED_APPS as OTHERS
from tests.admin.settings import MIDDLEWARE as PLAIN

INSTALLED_APPS = [*OTHERS, "django_otp"]
MIDDLEWARE = [*PLAIN, "django_otp.middleware.OTPMiddleware"]
ROOT_URLCONF = "tests.twofactor.staff.urls"
