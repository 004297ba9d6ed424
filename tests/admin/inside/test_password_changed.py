"""Validators with `password_changed` see each password that is set in Django admin, once."""

import pytest
from django.contrib.auth import get_user_model

from tests.admin.inside.test_refused_rows import NEW, add, named, set_password
from tests.support.client import PASSWORD
from tests.support.people import make_user

pytestmark = [pytest.mark.django_db, named]

seen = []


class Recorder:
    def validate(self, password, user=None):
        pass

    def password_changed(self, password, user=None):
        seen.append((user.pk, password))

    def get_help_text(self):
        return ""


@pytest.fixture
def users(root, settings):
    bob = make_user("bob@example.com")
    settings.AUTH_PASSWORD_VALIDATORS = [{"NAME": f"{__name__}.Recorder"}]
    seen.clear()
    return root, bob


def test_password_that_staff_set_is_seen(users):
    root, bob = users

    set_password(root, bob)

    assert seen == [(bob.pk, NEW)]


def test_password_of_a_user_who_is_added_is_seen(users):
    root, bob = users

    add(root, bob)

    [(pk, password)] = seen
    assert (get_user_model().objects.get(pk=pk).username, password) == ("new", PASSWORD)


def test_own_password_is_seen_after_the_commit(users, django_capture_on_commit_callbacks):
    root, _ = users
    form = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}

    with django_capture_on_commit_callbacks(execute=True):
        root.send("/admin/password_change/", **form)

    assert seen == [(root.user.pk, NEW)]


def test_refused_password_is_not_seen(users):
    root, _ = users
    form = {"old_password": "wrong", "new_password1": NEW, "new_password2": NEW}

    root.send("/admin/password_change/", **form)

    assert seen == []
