"""A user is deleted while a request of theirs is processed: it is refused without a crash."""

import pytest
from django.contrib.auth import get_user_model

from authservice.core.credentials import passwords
from authservice.core.login import host_hooks
from authservice.core.recovery import profile
from tests.support.client import PASSWORD
from tests.support.flows import NEW

pytestmark = pytest.mark.django_db


@pytest.fixture
def deleted_at_hash(monkeypatch):
    """`deleted_at_hash()`: all users are deleted when the next new password is hashed."""
    make = passwords.hash_new_password

    def make_and_delete(*args, **options):
        made = make(*args, **options)
        get_user_model().objects.all().delete()
        return made

    def begin():
        monkeypatch.setattr(passwords, "hash_new_password", make_and_delete)

    return begin


@pytest.fixture
def deleted_at_update(monkeypatch):
    """All users are deleted after the token is checked and before the profile is changed."""
    update = profile.update

    def delete_and_update(*args, **options):
        get_user_model().objects.all().delete()
        return update(*args, **options)

    monkeypatch.setattr(profile, "update", delete_and_update)


def test_profile_change_of_a_user_deleted_meanwhile_is_refused(api, ann, deleted_at_update):
    answer = api.request("PUT", "profile", {"name": "Anna"}, token=ann["access_token"])

    assert answer.error == (401, "INVALID_TOKEN")


def test_reset_link_of_a_user_deleted_meanwhile_is_refused(flows, ann, deleted_at_hash):
    token = flows.reset_token()
    deleted_at_hash()

    assert flows.reset(token).error == (400, "INVALID_TOKEN")


def test_password_change_of_a_user_deleted_meanwhile_is_refused(api, ann, deleted_at_hash):
    deleted_at_hash()

    body = {"old_password": PASSWORD, "new_password": NEW}
    answer = api.request("PUT", "change-password", body, token=ann["access_token"])

    assert answer.error == (401, "INVALID_TOKEN")


@pytest.mark.django_db(transaction=True)
def test_login_of_a_user_deleted_after_the_password_was_checked_is_refused(api, ann, monkeypatch):
    prepare = host_hooks.prepare

    def delete_and_prepare(*args, **options):
        prepared = prepare(*args, **options)
        get_user_model().objects.all().delete()
        return prepared

    monkeypatch.setattr(host_hooks, "prepare", delete_and_prepare)

    answer = api.post("login", email="ann@example.com", password=PASSWORD)

    assert answer.error == (401, "INVALID_CREDENTIALS")
