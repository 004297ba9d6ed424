"""A host that moves from simplejwt: its old routes and those of the compat module, side by side."""

from datetime import timedelta

from tests.settings import *  # noqa: F403
from tests.settings import INSTALLED_APPS as OTHERS

INSTALLED_APPS = [
    *OTHERS,
    "rest_framework_simplejwt.token_blacklist",
    "authservice.compat.simplejwt",
]
ROOT_URLCONF = "tests.compat.urls"
SIMPLE_JWT = {
    "REFRESH_TOKEN_LIFETIME": timedelta(days=30),
    "ROTATE_REFRESH_TOKENS": True,
    "BLACKLIST_AFTER_ROTATION": True,
}
