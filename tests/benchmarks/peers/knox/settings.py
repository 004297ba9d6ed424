"""Settings of django-rest-knox: documented options only."""

from tests.benchmarks.peers.django_settings import *  # noqa: F403
from tests.benchmarks.peers.django_settings import INSTALLED_APPS as COMMON
from tests.benchmarks.peers.django_settings import JSON_ONLY

ROOT_URLCONF = "tests.benchmarks.peers.knox.urls"
INSTALLED_APPS = [*COMMON, "rest_framework", "knox"]
REST_FRAMEWORK = {
    **JSON_ONLY,
    "DEFAULT_AUTHENTICATION_CLASSES": ["knox.auth.TokenAuthentication"],
}
