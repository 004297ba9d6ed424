"""Another application logs a user in through django-oauth-toolkit beside the pages of the service,
in the project of the block in docs/not_included.rst."""

from __future__ import annotations

import base64
import hashlib
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from django.test import Client
from oauth2_provider.models import Application

from tests.pages.inside.person import Person as Browser
from tests.support.client import PASSWORD, Api
from tests.twofactor import people

RETURN_URL, SECRET, VERIFIER = "https://app.example.com/back", "a secret", "v" * 43


def _challenge() -> str:
    digest = hashlib.sha256(VERIFIER.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def log_in_at_the_application() -> None:
    ann = people.Person(Api()).sign_up().enrol()
    application = Application.objects.create(
        client_secret=SECRET,
        client_type=Application.CLIENT_CONFIDENTIAL,
        authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
        redirect_uris=RETURN_URL,
        algorithm=Application.RS256_ALGORITHM,
        skip_authorization=True,
    )
    asked = {
        "response_type": "code",
        "client_id": application.client_id,
        "redirect_uri": RETURN_URL,
        "scope": "openid",
        "code_challenge": _challenge(),
        "code_challenge_method": "S256",
    }
    authorize = f"/o/authorize/?{urlencode(asked)}"
    browser = Browser()

    page = browser.open(authorize)
    page = browser.send(page, identifier=ann.email, password=PASSWORD)
    assert page.heading == "Enter your code", page.heading
    # The password alone signs nobody in at the provider.
    assert "/auth/login" in browser.visit(authorize).location
    arrived = urlsplit(browser.send(page, code=ann.code(1)).url)

    assert arrived.path == urlsplit(RETURN_URL).path, arrived
    [code] = parse_qs(arrived.query)["code"]
    sent = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": RETURN_URL,
        "client_id": application.client_id,
        "client_secret": SECRET,
        "code_verifier": VERIFIER,
    }
    answer = Client().post("/o/token/", sent)
    assert answer.status_code == 200, answer.content
    claims = jwt.decode(answer.json()["id_token"], options={"verify_signature": False})
    assert claims["sub"] == ann.user_id
