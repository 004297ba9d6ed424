"""A host with every module; the environment variable `AUTO_FIELD` sets `DEFAULT_AUTO_FIELD`."""

import os

from tests.hosts import everything
from tests.settings import *  # noqa: F403 all settings

DEFAULT_AUTO_FIELD = f"django.db.models.{os.environ['AUTO_FIELD']}"
everything.change(globals())
