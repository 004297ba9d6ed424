"""Settings of a project with fields of its own, which its API description has."""

from tests.extending.settings import *  # noqa: F403
from tests.extending.settings import AUTHSERVICE as GIVEN

AUTHSERVICE = {
    **GIVEN,
    "CORE": {
        "USER_FIELDS": ["full_name", "born"],
        "SIGNUP_SERIALIZER": "tests.extending.people.serializers.Elevating",
        "PROFILE_SERIALIZER": "tests.extending.people.serializers.Elevating",
    },
}
