"""A host with the module, its mails and Django admin; `TEST_HOST` selects another user model."""

from tests.admin.settings import *  # noqa: F403
from tests.admin.settings import AUTHSERVICE as SERVICE
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
# Roles of a project: with and without each key, of equal rank, and below a member.
ROLES = {
    "recruiter": {"rank": 160, "may": ["invite"]},
    "billing": {"may": ["update"], "permissions": ["billing.pay", "reports.export"]},
    "support": {"permissions": ("orders.read",)},
    "guest": {"rank": 50},
    "owner": {"permissions": ["shop.close"]},
}
AUTHSERVICE = {**SERVICE, "ORGANIZATION": {"ROLES": ROLES}}
