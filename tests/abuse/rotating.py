"""The example project with signing keys in the file that `KEY_FILE` names."""

import os

from authservice.key_file import load
from example_project.settings import *  # noqa: F403
from example_project.settings import AUTHSERVICE as EXAMPLE

AUTHSERVICE = {**EXAMPLE, "SIGNING_KEYS": load(os.environ["KEY_FILE"])}
