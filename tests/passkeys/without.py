"""Settings of a host without the module."""

from tests.settings import *  # noqa: F403
from tests.settings import INSTALLED_APPS as ALL

MODULE = "authservice.passkeys"
INSTALLED_APPS = [app for app in ALL if app != MODULE]
