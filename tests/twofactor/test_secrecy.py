"""No secret is stored in plain text, and keys can be rotated without losing a factor."""

import base64

import pytest
from django.apps import apps
from django.core.cache import cache

from authservice.twofactor.models import Authenticator

pytestmark = pytest.mark.django_db
OLD = "a secret of the tests, long enough to be a key"
NEW = "another secret of the tests, long enough to be a key"


def everything_stored():
    models = [model for model in apps.get_models() if model.__module__.startswith("authservice")]
    rows = [row for model in models for row in model._base_manager.values()]
    return repr(rows) + repr(getattr(cache, "_cache", ""))


def test_stored_rows_cache_and_log_contain_no_secret(ann, clock, caplog):
    made = ann.set_up()
    ann.post("2fa/verify", code=ann.code())
    clock.forward(seconds=30)
    used = [ann.temp_token(), ann.temp_token()]
    ann.verify_login(ann.code(), used[0])
    ann.verify_login(ann.backup_codes[0], used[1])

    raw = base64.b32decode(made["secret"])
    secrets = [made["secret"], raw.hex(), base64.b64encode(raw).decode(), *used]
    secrets += [form for code in ann.backup_codes for form in (code, code.replace("-", ""))]
    stored = everything_stored() + caplog.text
    assert [secret for secret in secrets if secret in stored] == []


def test_responses_after_the_setup_do_not_contain_the_secret(enrolled):
    shown = [
        enrolled.get("2fa/status"),
        enrolled.post("2fa/setup"),
        enrolled.verify_login(enrolled.code()),
        enrolled.get("me"),
    ]

    assert not any(enrolled.app.secret in answer.response.content.decode() for answer in shown)


def test_sealed_secret_differs_each_time(ann):
    ann.set_up()
    first = Authenticator.objects.get().sealed_secret
    ann.set_up()

    assert Authenticator.objects.get().sealed_secret != first


def rotate_keys(settings):
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [OLD]


def test_code_is_accepted_after_a_key_rotation(enrolled, settings):
    rotate_keys(settings)

    assert enrolled.verify_login(enrolled.code()).status == 200


def test_backup_code_is_accepted_after_a_key_rotation(enrolled, settings):
    rotate_keys(settings)

    assert enrolled.verify_login(enrolled.backup_codes[0]).status == 200


def test_used_factor_no_longer_needs_the_old_key(enrolled, settings):
    rotate_keys(settings)
    enrolled.verify_login(enrolled.code())

    settings.SECRET_KEY_FALLBACKS = []

    assert enrolled.verify_login(enrolled.code(1)).status == 200


def test_secret_that_no_key_decrypts_is_logged_and_refuses_codes(enrolled, settings, caplog):
    settings.SECRET_KEY = NEW

    answer = enrolled.verify_login(enrolled.code())

    assert answer.error == (401, "TWO_FACTOR_INVALID")
    assert "cannot be decrypted" in caplog.text
