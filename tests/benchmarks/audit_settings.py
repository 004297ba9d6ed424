"""A plain host with an audit log, without flood limits."""

from tests.settings import *  # noqa: F403 all of them
from tests.settings import AUTHSERVICE as REST
from tests.settings import INSTALLED_APPS as OTHERS

INSTALLED_APPS = [*OTHERS, "authservice.audit"]
AUTHSERVICE = {**REST, "THROTTLE": {"ENABLED": False}}
