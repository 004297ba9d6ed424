"""Settings of the provider."""

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

_key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
_LOGIN = "<form method=post>{% csrf_token %}{{ form }}<button>Log in</button></form>"
# That of the package loads a style sheet.
_BASE = "{% block content %}{% endblock %}"

SECRET_KEY = "key of the provider of the tests"
ALLOWED_HOSTS = ["localhost"]
ROOT_URLCONF = "tests.oauth.toolkit.urls"
LOGIN_URL = "/login"
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
# The names of another application on the same host, whose cookies browsers send to every port.
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "toolkit_session", "toolkit_csrf"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "oauth2_provider",
]
# Creating the tables without the migrations takes a tenth of the time.
MIGRATION_MODULES = dict.fromkeys(("auth", "contenttypes", "sessions", "oauth2_provider"))
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
]
# In memory, for all threads, as long as one of them keeps a connection.
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": "file:toolkit?mode=memory&cache=shared",
    }
}
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "OPTIONS": {
            "context_processors": ["django.template.context_processors.request"],
            "loaders": [
                (
                    "django.template.loaders.locmem.Loader",
                    {"registration/login.html": _LOGIN, "oauth2_provider/base.html": _BASE},
                ),
                "django.template.loaders.app_directories.Loader",
            ],
        },
    }
]
OAUTH2_PROVIDER = {
    "OIDC_ENABLED": True,
    "OIDC_RSA_PRIVATE_KEY": _key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode(),
    "OAUTH2_VALIDATOR_CLASS": "tests.oauth.toolkit.claims.Validator",
    "SCOPES": {"openid": "Log in", "email": "E-mail address", "profile": "Name"},
    "PKCE_REQUIRED": True,
    "COMPLIANT_BCP_RFC9700_PKCE_METHOD": True,
    "COMPLIANT_BCP_RFC9700_AUTHZ_RESPONSE_ISS": True,
}
