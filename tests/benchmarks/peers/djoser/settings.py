"""Settings of djoser: documented options only."""

from tests.benchmarks.peers.django_settings import *  # noqa: F403
from tests.benchmarks.peers.django_settings import INSTALLED_APPS as COMMON
from tests.benchmarks.peers.django_settings import JSON_ONLY

ROOT_URLCONF = "tests.benchmarks.peers.djoser.urls"
INSTALLED_APPS = [
    *COMMON,
    "rest_framework",
    "rest_framework_simplejwt.token_blacklist",
    "djoser",
]
REST_FRAMEWORK = {
    **JSON_ONLY,
    "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework_simplejwt.authentication.JWTAuthentication"],
}
DJOSER = {"SEND_ACTIVATION_EMAIL": False}
