"""A host with Django admin twice: as it comes, and behind django-otp's middleware and site."""

from tests.admin.settings import *  # noqa: F403
from tests.admin.settings import INSTALLED_APPS as OTHERS
from tests.admin.settings import MIDDLEWARE as PLAIN

INSTALLED_APPS = [*OTHERS, "django_otp"]
MIDDLEWARE = [*PLAIN, "django_otp.middleware.OTPMiddleware"]
ROOT_URLCONF = "tests.twofactor.staff.urls"
