"""The search of the built docs finds pages by the words that people use."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hosts.runs import ROOT

SEARCH = Path(__file__).with_name("search.js")
FIRST = 3  # A reader looks at the first results only.
WORDS = {
    "2fa": "twofactor",
    "account deletion": "account",
    "anonymous users": "not_included",
    "api key": "not_included",
    "api keys": "not_included",
    "apple": "oauth_providers",
    "audit log": "audit",
    "auth_user_model": "users",
    "backup codes": "twofactor",
    "backup": "running/backup",
    "bot": "recipes/bots",
    "breached passwords": "passwords",
    "brute force": "recipes/bots",
    "captcha": "recipes/signup",
    "celery": "running/workers",
    "chat": "notification",
    "clerk": "comparison",
    "cors": "front_end/cors",
    "credential stuffing": "recipes/bots",
    "csrf": "csrf",
    "curl": "curl",
    "custom role": "organization",
    "custom user model": "users",
    "delete account": "account",
    "device": "session",
    "disaster recovery": "running/backup",
    "dj-rest-auth": "coming_from/dj_rest_auth",
    "django admin": "managing",
    "docker": "running/deployment",
    "email templates": "notification",
    "export": "your_data",
    "gdpr delete": "your_data",
    "gdpr export": "your_data",
    "gdpr": "your_data",
    "glossary": "glossary",
    "google": "oauth_providers",
    "guest": "not_included",
    "haveibeenpwned": "passwords",
    "hosted ui": "pages",
    "htmx": "recipes/login",
    "i18n": "languages",
    "impersonation": "not_included",
    "jwt": "tokens",
    "keycloak": "not_included",
    "kubernetes": "running/deployment",
    "localhost": "google_on_your_laptop",
    "lockout": "reference/limits",
    "logout everywhere": "recipes/login",
    "logout": "tokens",
    "look and feel": "pages",
    "machine tokens": "not_included",
    "magic link": "magiclink",
    "mfa": "twofactor",
    "migrate": "coming_from/index",
    "mobile app": "front_end/mobile",
    "multi-tenancy": "tenants",
    "multitenancy": "tenants",
    "nextjs": "front_end/nextjs",
    "oauth provider": "not_included",
    "openid provider": "not_included",
    "passkey": "passkeys",
    "passwordless": "magiclink",
    "permissions": "views",
    "phone": "recipes/sms",
    "prometheus": "running/metrics",
    "push": "notification",
    "rate limit": "reference/limits",
    "rbac": "organization",
    "react": "clients",
    "redis": "running/machines",
    "restore": "running/backup",
    "rotate signing keys": "running/keys",
    "saml": "not_included",
    "scim": "not_included",
    "sms login": "recipes/sms",
    "sms": "recipes/sms",
    "social login": "oauth",
    "sso": "not_included",
    "tenant": "tenants",
    "theme": "pages",
    "totp": "twofactor",
    "typescript": "clients",
    "user pool": "tenants",
    "web and mobile": "front_end/web_and_mobile",
    "webauthn": "passkeys",
    "webhook": "recipes/signup",
    "websocket": "views",
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The pages that each query finds, best first.

    `DOCS_BUILD` is a folder with docs that are built already, in one go: a build that only renews
    pages loses entries of the index.
    """
    folder = os.environ.get("DOCS_BUILD")
    if not folder:
        folder = str(tmp_path_factory.mktemp("html"))
        build = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "docs", folder]
        subprocess.run(build, cwd=ROOT, check=True)
    found = subprocess.run(
        ["node", str(SEARCH), folder],
        input=json.dumps(list(WORDS)),
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(zip(WORDS, json.loads(found.stdout), strict=True))


@pytest.mark.slow
@pytest.mark.xdist_group("search")  # one worker builds the docs
@pytest.mark.parametrize(("word", "page"), WORDS.items())
def test_page_is_among_the_first_results(results, word, page):
    assert page in results[word][:FIRST]


def test_at_least_sixty_words_are_tried():
    assert len(WORDS) >= 60
    assert [page for page in WORDS.values() if not (ROOT / f"docs/{page}.rst").is_file()] == []
