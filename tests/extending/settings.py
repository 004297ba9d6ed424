"""A host whose users have fields of their own, with every route that shows users."""

from tests.settings import *  # noqa: F403
from tests.settings import INSTALLED_APPS as OTHERS

INSTALLED_APPS = [
    *OTHERS,
    "authservice.organization",
    "tests.support.messenger.apps.PostOffice",
    "tests.extending.people",
]
AUTH_USER_MODEL = "people.User"
