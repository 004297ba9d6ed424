"""A host that installs every module there is, with Django admin."""

from tests.admin.settings import *  # noqa: F403
from tests.admin.settings import INSTALLED_APPS as OTHERS
from tests.hosts.shipped import everything, replace

INSTALLED_APPS = replace(OTHERS, everything())
