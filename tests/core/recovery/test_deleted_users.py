"""Somebody is deleted while a request of theirs is on its way: refused, and no crash."""

import pytest
from django.contrib.auth import get_user_model

from authservice.core.credentials import passwords
from authservice.core.recovery import profile
from tests.client import PASSWORD
from tests.recovery.flows import NEW

pytestmark = pytest.mark.django_db


@pytest.fixture
def vanishing(monkeypatch):
    """Whoever sets a new password is deleted when its hash is made."""
    make = passwords.hash_new_password

    def make_and_delete(*args, **options):
        made = make(*args, **options)
        get_user_model().objects.all().delete()
        return made

    def begin():
        monkeypatch.setattr(passwords, "hash_new_password", make_and_delete)

    return begin


@pytest.fixture
def vanished(monkeypatch):
    """Whoever changes their profile is deleted once the token is checked."""
    update = profile.update

    def delete_and_update(*args, **options):
        get_user_model().objects.all().delete()
        return update(*args, **options)

    monkeypatch.setattr(profile, "update", delete_and_update)


def test_a_change_of_profile_of_somebody_deleted_meanwhile_is_refused(api, ann, vanished):
    answer = api.request("PUT", "profile", {"name": "Anna"}, token=ann["access_token"])

    assert answer.error == (401, "INVALID_TOKEN")


def test_a_reset_link_of_somebody_deleted_meanwhile_is_refused(flows, ann, vanishing):
    token = flows.reset_token()
    vanishing()

    assert flows.reset(token).error == (400, "INVALID_TOKEN")


def test_a_change_of_password_of_somebody_deleted_meanwhile_is_refused(api, ann, vanishing):
    vanishing()

    body = {"old_password": PASSWORD, "new_password": NEW}
    answer = api.request("PUT", "change-password", body, token=ann["access_token"])

    assert answer.error == (401, "INVALID_TOKEN")
