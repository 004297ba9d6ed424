"""A host that installs every module and Django admin, with its styles for a browser."""

from tests.audit.settings import *  # noqa: F403
from tests.audit.settings import INSTALLED_APPS as OTHERS

INSTALLED_APPS = [*OTHERS, "django.contrib.staticfiles"]
