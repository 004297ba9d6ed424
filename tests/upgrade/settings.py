"""A host with every module, whose keys are those with which the data of each release was recorded.

`LOGIN_MODULE` names its login module. The keys are of these tests only.
"""

import os
from datetime import timedelta

from tests.hosts import shipped
from tests.oauth.in_process import SETTINGS
from tests.settings import *  # noqa: F403
from tests.settings import INSTALLED_APPS as _PLAIN
from tests.support.mailing import mail_settings

LOGIN = os.environ.get("LOGIN_MODULE", "session")

SECRET_KEY = "the secret key with which the data of each release was recorded"
INSTALLED_APPS = [
    f"authservice.{LOGIN}" if app == "authservice.session" else app
    for app in shipped.replace(_PLAIN, shipped.everything())
]
globals().update(mail_settings("smtp", host="mail.example.com"))
AUTHSERVICE = {
    "API_URL": "http://testserver",
    "CORE": {"ALLOW_SELF_DELETE": True},
    "MAGICLINK": {"AUTO_REGISTER": True},
    "NOTIFICATION": {"DISPATCHER": "inline", "SMS_SENDER": "tests.upgrade.story.text"},
    "OAUTH": {
        "PROVIDERS": {"acme": SETTINGS},
        "STORE_PROVIDER_TOKENS": True,
        "USE_SESSION_AUTH": LOGIN == "session",
    },
    "TWOFACTOR": {"REMEMBER_TTL": timedelta(days=30), "REQUIRED": "super_admins"},
}
# For one access token; the others are signed with a key that is derived from SECRET_KEY.
SIGNING_KEYS = [
    {
        "alg": "EdDSA",
        "state": "active",
        "private_key": """-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIPbp1wwIoRhXJlw8DOfpaATyP8YrnfkFxf9dSGM9IvZy
-----END PRIVATE KEY-----
""",
    }
]
