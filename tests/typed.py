"""Settings for mypy: a model is known only where its app is installed, so every module is."""

from tests.hosts import everything
from tests.settings import *  # noqa: F403 all of them

everything.change(globals())
