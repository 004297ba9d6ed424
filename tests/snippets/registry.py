"""Where the blocks of Python run that do not run by themselves, and what others expect.

A block is named by a page and a text that only this block of the page contains.
"""

from __future__ import annotations

from tests.snippets.blocks import of_page

# These tests execute all blocks of Python of a page.
PAGES = {
    "docs/extending.rst": "tests/extending/test_docs.py",
    "docs/recipes/login.rst": "tests/recipes/test_login.py",
    "docs/recipes/project.rst": "tests/recipes/test_project.py",
    "docs/recipes/signup.rst": "tests/recipes/test_signup.py",
    "docs/start.rst": "tests/wheel/test_start_page.py",
    "docs/verifying.rst": "tests/verifying/test_verifying.py",
}
# These tests execute one block.
BLOCKS = {
    ("README.rst", "urlpatterns"): "tests/wheel/test_startproject.py",
    ("README.rst", "# views.py"): "tests/wheel/test_startproject.py",
    ("docs/other_packages.rst", "AXES_LOCKOUT_CALLABLE"): "tests/hosts/inside/test_axes.py",
    ("docs/organization.rst", "RowSecurityMiddleware"): "tests/organization/shop/recipe.py",
    ("docs/running/metrics.rst", "# settings.py"): "tests/metrics/test_recipe.py",
    ("docs/running/metrics.rst", "# project/metrics.py"): "tests/metrics/test_recipe.py",
    ("docs/running/metrics.rst", "# project/urls.py"): "tests/metrics/test_recipe.py",
    ("docs/running/metrics.rst", "# gunicorn.conf.py"): "tests/metrics/test_recipe.py",
    ("docs/views.rst", "# views.py: then"): "tests/host_views/test_new_project.py",
    ("docs/views.rst", "@api.get"): "tests/host_views/test_recipes.py",
    ("docs/views.rst", "AsyncJsonWebsocketConsumer"): "tests/host_views/test_recipes.py",
}
# Files that a page names, and what a test puts in their place.
FILES = {
    "/etc/app/keys.json": "keys.json",
    "/etc/ssl/internal-ca.pem": "authority.pem",
    "oidc.pem": "oidc.pem",
    "/srv/shop/common.filter": "common.filter",
}


def _module(name: str, code: str) -> str:
    return f"""
import sys, types
{name.partition(".")[0]} = sys.modules["{name.partition(".")[0]}"] = types.ModuleType("package")
module = sys.modules["{name}"] = types.ModuleType("{name}")
exec({code!r}, module.__dict__)
setattr({name.partition(".")[0]}, "{name.rpartition(".")[2]}", module)
"""


_KEYS = """
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
PEM, PEM_NEW = (
    ed25519.Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()
    for _ in range(2)
)
PEM_OLD = rsa.generate_private_key(65537, 2048).public_key().public_bytes(
    serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
).decode()
"""
_OAUTH = """
INSTALLED_APPS += ["authservice.oauth"]
AUTHSERVICE["OAUTH"] = {"PROVIDERS": {}}
"""
_FORUM = next(
    block.code for block in of_page("docs/oauth_providers.rst") if "class Forum" in block.code
)
# What a block expects of the project: code that runs before it.
GIVEN = {
    ("docs/clients.rst", "authservice_auth"): """
import sys
sys.path.insert(0, "example_project/clients/python")
""",
    ("docs/coming_from/knox.rst", "knox.auth"): 'INSTALLED_APPS += ["knox"]',
    ("docs/coming_from/allauth.rst", "allauth.account.urls"): """
INSTALLED_APPS += ["allauth", "allauth.account", "authservice.pages"]
MIDDLEWARE += ["allauth.account.middleware.AccountMiddleware"]
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
""",
    ("docs/pages.rst", "LOGO_URL"): 'INSTALLED_APPS += ["authservice.pages"]',
    ("docs/passwords.rst", "NotCommon"): "AUTH_PASSWORD_VALIDATORS = []",
    ("docs/passwords.rst", "passwords.internal"): "AUTH_PASSWORD_VALIDATORS = []",
    ("docs/audit.rst", "RETENTION"): 'INSTALLED_APPS += ["authservice.audit"]',
    ("docs/coming_from/dj_rest_auth.rst", "TRADE_COOKIE"): """
SIMPLE_JWT = {}
REST_FRAMEWORK = {"DEFAULT_AUTHENTICATION_CLASSES": []}
""",
    ("docs/coming_from/simplejwt.rst", "TRADE_UNTIL"): (
        'INSTALLED_APPS += ["authservice.compat.simplejwt"]'
    ),
    ("docs/oauth.rst", "RETURN_URLS"): _OAUTH,
    ("docs/outbound.rst", "egress.internal"): _OAUTH,
    ("docs/csrf.rst", "EXEMPT_BEARER"): 'INSTALLED_APPS += ["authservice.csrf"]',
    ("docs/modules.rst", "TWOFACTOR"): 'INSTALLED_APPS += ["authservice.twofactor"]',
    ("docs/translating.rst", "def check_size"): """
from authservice.kernel import errors
from authservice.kernel.languages import phrase
""",
    ("docs/other_packages.rst", "wagtail.admin.urls"): (
        'INSTALLED_APPS += ["authservice.pages"]'
        + _module("wagtail.admin.urls", "urlpatterns = []")
    ),
    ("docs/passkeys.rst", "root_urls"): 'INSTALLED_APPS += ["authservice.passkeys"]',
    ("docs/your_data.rst", "EXPORT_HOOK"): _module(
        "shop.personal_data", "def of_user(user): yield from ()"
    ),
    ("docs/not_included.rst", "oauth2_provider"): """
INSTALLED_APPS += ["authservice.pages", "authservice.twofactor"]
MIDDLEWARE += ["authservice.middleware.AuthserviceMiddleware"]
AUTHSERVICE["NOTIFICATION"] = {"DISPATCHER": "inline"}
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
""",
    ("docs/not_included.rst", "keycloak"): 'INSTALLED_APPS += ["authservice.oauth"]',
    ("docs/tenants.rst", "IsOrganizationMember"): (
        'INSTALLED_APPS += ["authservice.organization"]'
    ),
    ("docs/notification.rst", '"CAPTURE"'): _module("accounts.tenants", "capture = restore = str"),
    ("docs/notification.rst", "def language_of"): _module(
        "accounts.languages", "language_of = str"
    ),
    ("docs/installing.rst", '"port": 587'): 'import os; os.environ["SMTP_PASSWORD"] = "secret"',
    ("docs/installing.rst", "EMAIL_HOST_USER"): (
        'import os; os.environ["SMTP_PASSWORD"] = "secret"'
    ),
    ("docs/oauth.rst", "import os"): ('import os; os.environ["GITHUB_CLIENT_SECRET"] = "secret"'),
    ("docs/oauth.rst", "NoProviderToken"): """
INSTALLED_APPS += ["authservice.oauth"]
class request:
    class user:
        pk = 1
""",
    ("docs/oauth_providers.rst", "https://sso.example.com"): _OAUTH,
    ("docs/oauth_providers.rst", "SpotifyOAuth2"): _OAUTH,
    ("docs/oauth_providers.rst", "class Forum"): _OAUTH,
    ("docs/oauth_providers.rst", '"CLASS"'): _OAUTH + _module("shop.providers", _FORUM),
    ("docs/organization.rst", "IsOrganizationMember"): (
        'INSTALLED_APPS += ["authservice.organization"]'
    ),
    ("docs/organization.rst", "test_admins_rename_projects"): (
        'INSTALLED_APPS += ["authservice.organization"]'
    ),
    ("docs/organization.rst", '"ROLES"'): 'INSTALLED_APPS += ["authservice.organization"]',
    ("docs/organization.rst", "router.register"): _module(
        "shop.views", "class Projects: get_extra_actions = list"
    ),
    ("docs/running.rst", "SECURE_HSTS_SECONDS"): """
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
""",
    ("docs/running/keys.rst", "SECRET_KEY_FALLBACKS"): 'OLD, NEW = "old key", "new key"',
    ("docs/running/machines.rst", "DATABASE_ROUTERS"): """
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
"""
    + _module("project.routers", "class People: pass"),
    ("docs/running/retention.rst", "RETENTION"): 'INSTALLED_APPS += ["authservice.audit"]',
    ("docs/running/workers.rst", "celery_app"): _module("project.celery", "app = None"),
    ("docs/running/workers.rst", "CELERY_BEAT_SCHEDULE"): _module(
        "accounts.cleanup", "SCHEDULE = {}"
    ),
    ("docs/running/workers.rst", "accounts.broker"): _module("accounts.broker", "publish = print"),
    ("docs/session.rst", "CACHES"): """
INSTALLED_APPS += ["authservice.session"]
AUTHSERVICE["SESSION"] = {}
""",
    ("docs/session.rst", "class Registered"): _module("shop.register", ""),
    ("docs/tokens.rst", "PEM_NEW"): _KEYS,
}
# What tries a block, with tables: code that runs after it.
THEN = {
    ("docs/not_included.rst", "oauth2_provider"): (
        "from tests.snippets import toolkit; toolkit.log_in_at_the_application()"
    ),
    ("docs/oauth.rst", "NoProviderToken"): 'assert "token" not in globals()',
    ("docs/organization.rst", "test_admins_rename_projects"): "test_admins_rename_projects(None)",
    ("docs/other_packages.rst", "wagtail.admin.urls"): """
from django.test import Client, override_settings
with override_settings(ROOT_URLCONF=tuple(urlpatterns), ALLOWED_HOSTS=["testserver"]):
    for address in ("/cms/login/", "/_util/login/"):
        assert Client().get(f"{address}?next=/cms/").url == "/auth/login?next=/cms/"
""",
    ("docs/testing.rst", "def test_an_invoice"): "test_an_invoice_is_the_signed_in_users(None)",
}
# At most 15 blocks of Python or JavaScript, with the reason why no test executes them.
NOT_EXECUTED = {
    ("docs/not_included.rst", "HasAPIKey"): "needs djangorestframework-api-key",
    ("docs/notification.rst", "django_tenants"): "needs django-tenants and its database backend",
    ("docs/passkeys.rst", "METADATA_FILE"): "needs the file of the FIDO Alliance",
    ("docs/running/monitoring.rst", "sentry_sdk.init"): "needs sentry-sdk and an account there",
    ("docs/running/monitoring.rst", "DjangoInstrumentor"): "needs packages of OpenTelemetry",
    ("docs/running/workers.rst", "TASKS = "): "needs a package with a backend, and Django 6.0",
}
