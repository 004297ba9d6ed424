"""A host that installs every module there is, with Django admin."""

from tests.admin.settings import *  # noqa: F403
from tests.admin.settings import INSTALLED_APPS as OTHERS
from tests.hosts.shipped import everything, replace

# Each once: a host may have sessions too.
INSTALLED_APPS = list(dict.fromkeys(replace(OTHERS, everything())))
