"""Settings for mypy: it knows a model only if the app is installed, so all modules are."""

from tests.hosts import everything
from tests.settings import *  # noqa: F403 all of them

everything.change(globals())
