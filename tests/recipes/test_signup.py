"""The recipes of docs/recipes/signup.rst do what the page says."""

import hashlib
import hmac
import json

import pytest
from celery import current_app
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIRequestFactory

from authservice import signals
from tests.support.client import PASSWORD
from tests.support.documented import Page
from tests.support.flows import CommittingApi
from tests.support.people import users

pytestmark = pytest.mark.django_db

PAGE = Page("recipes/signup")
[CAPTCHA] = PAGE.settings()
ANN = {"email": "ann@example.com", "password": PASSWORD}


class TestCaptcha:
    @pytest.fixture(autouse=True)
    def _captcha(self, settings, configure, gateway):
        settings.CAPTCHA_URL, settings.CAPTCHA_SECRET = gateway.url, "our secret"
        configure(**CAPTCHA["AUTHSERVICE"])
        with PAGE.installed("captcha"):
            yield

    def test_solved_captcha_is_sent_to_its_service_and_creates_an_account(self, api, gateway):
        gateway.body = {"success": True}

        assert api.post("signup", **ANN, captcha="solved").status == 201

        [(method, _, _, form)] = gateway.requests
        assert (method, form) == ("POST", b"secret=our+secret&response=solved")

    def test_refused_and_missing_captcha_create_no_account(self, api, gateway):
        gateway.body = {"success": False}

        assert api.post("signup", **ANN, captcha="wrong").error == (403, "CAPTCHA_FAILED")
        assert api.post("signup", **ANN).error == (400, "VALIDATION_ERROR")
        assert users() == 0

    def test_sign_up_is_refused_while_the_captcha_service_fails(self, robust, gateway):
        gateway.status = 500

        assert robust.post("signup", **ANN, captcha="x").error == (500, "INTERNAL_ERROR")
        assert users() == 0


def test_sign_up_calls_the_webhook_with_a_signature(settings, gateway, monkeypatch):
    settings.WEBHOOK_URL, settings.WEBHOOK_KEY = gateway.url, "our key"
    monkeypatch.setattr(current_app.conf, "task_always_eager", True)

    with PAGE.installed("tasks", "receivers"):
        user = CommittingApi().sign_up()["user"]
        signals.signed_up.receivers.pop()
        signals.signed_up.sender_receivers_cache.clear()

    [(_, _, headers, body)] = gateway.requests
    assert json.loads(body) == {"event": "signed_up", "user_id": user["id"]}
    assert headers["X-Signature"] == hmac.new(b"our key", body, hashlib.sha256).hexdigest()


class TestAvatars:
    PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 20

    @pytest.fixture
    def upload(self, settings, tmp_path, api):
        """`upload(content)` sends a file, and returns the response and Ann's access token."""
        settings.MEDIA_ROOT, settings.MEDIA_URL = tmp_path, "https://media.example.com/"
        view = PAGE.names("accounts/avatars")["Avatar"].as_view()
        self.token = api.sign_up()["access_token"]

        def send(content, **headers):
            headers = headers or {"Authorization": f"Bearer {self.token}"}
            file = SimpleUploadedFile("../evil.html", content)
            return view(APIRequestFactory().post("/avatar", {"file": file}, headers=headers))

        return send

    def test_picture_is_stored_and_its_url_becomes_the_avatar(self, upload, api):
        response = upload(self.PNG)

        url = response.data["url"]
        assert url.startswith("https://media.example.com/avatars/")
        assert url.endswith(".png")
        with default_storage.open(url.partition(".com/")[2]) as stored:
            assert stored.read() == self.PNG
        assert (
            api.request("PUT", "profile", {"avatar": url}, token=self.token).data["avatar"] == url
        )

    def test_other_and_large_files_and_unknown_users_are_refused(self, upload):
        assert upload(b"<html>").status_code == 400
        assert upload(self.PNG + b"0" * 500_000).status_code == 400
        assert upload(self.PNG, Authorization="Bearer x").status_code == 401
