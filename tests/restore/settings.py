"""A project whose `SECRET_KEY` is in the environment, as `KEY`, with former ones in `FALLBACKS`."""

import os

from tests.settings import *  # noqa: F403

SECRET_KEY = os.environ["KEY"]
SECRET_KEY_FALLBACKS = list(filter(None, os.environ.get("FALLBACKS", "").split(";")))
