"""Settings of a host without the module."""

from tests.support.typed import *  # noqa: F403
from tests.support.typed import INSTALLED_APPS as ALL

INSTALLED_APPS = [app for app in ALL if app != "authservice.organization"]
