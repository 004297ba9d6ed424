"""A host with a module of its own, beside those of the package that observe it."""

from tests.settings import *  # noqa: F403
from tests.settings import INSTALLED_APPS as OTHERS

INSTALLED_APPS = [
    *OTHERS,
    "authservice.audit",
    "tests.toy_module.bookmarks.apps.Bookmarks",
]
