"""Every module of ours, in a host with the `DEFAULT_AUTO_FIELD` that the environment names."""

import os

from tests.hosts import everything
from tests.settings import *  # noqa: F403 all of them

DEFAULT_AUTO_FIELD = f"django.db.models.{os.environ['AUTO_FIELD']}"
everything.change(globals())
