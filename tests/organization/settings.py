"""A host with the module, its mails and Django admin; `TEST_HOST` selects another user model."""

from tests.admin.settings import *  # noqa: F403
from tests.admin.settings import INSTALLED_APPS as OTHERS
from tests.admin.settings import MIDDLEWARE as OTHER_MIDDLEWARE

INSTALLED_APPS = [
    *OTHERS,
    "authservice.organization",
    "tests.support.messenger.apps.PostOffice",
    "tests.organization.shop",
]
MIDDLEWARE = [*OTHER_MIDDLEWARE, "authservice.organization.middleware.OrganizationMiddleware"]
ROOT_URLCONF = "tests.organization.urls"
