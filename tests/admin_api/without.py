"""The settings of the suite without the admin module."""

from tests.settings import *  # noqa: F403 all of them
from tests.settings import INSTALLED_APPS as ALL

INSTALLED_APPS = [app for app in ALL if app != "authservice.admin"]
