"""A host that installs every module of the package, with Django admin."""

from tests.admin.settings import *  # noqa: F403
from tests.admin.settings import INSTALLED_APPS as OTHERS
from tests.hosts.shipped import everything, replace

# Without duplicates: the host may install the sessions of Django too.
INSTALLED_APPS = list(dict.fromkeys(replace(OTHERS, everything())))
