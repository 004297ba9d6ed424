"""The project's model or table refuses a user whom staff save on a page of the project."""

import pytest
from django.contrib.admin import ModelAdmin
from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError

from tests.admin.inside.test_rights import guarded_page, only, save, save_list
from tests.support import triggers
from tests.support.client import PASSWORD
from tests.support.people import email_field, has, make_user

pytestmark = pytest.mark.django_db

__all__ = ["only"]

NEW, RULE = "quince jelly 17 shutters", "Names of this project have a rule."
TAKEN = "A record of this project with one of these values already exists."
User = get_user_model()
_triggers = triggers.of(User)
ERRORS = {
    "clean": (ValidationError(RULE), RULE),
    "field": (ValidationError({"last_login": [RULE]}), RULE),
    "receiver": (IntegrityError("a receiver of post_save"), TAKEN),
    "value": (DataError("value too long"), ""),
}


@pytest.fixture
def bob():
    return make_user("bob@example.com")


def change(root, user):
    return save(root, user, is_staff="on")


def add(root, user):
    passwords = {"password1": PASSWORD, "password2": PASSWORD, "usable_password": "true"}
    names = {email_field(): "new@example.com", "username": "new"}
    inline = {f"User_groups-{part}_FORMS": 0 for part in ("TOTAL", "INITIAL")}
    return root.send(guarded_page("add"), **names, **passwords, **inline)


def edit_in_list(root, user):
    return save_list(root, user, is_staff="on")


def set_password(root, user):
    form = {"password1": NEW, "password2": NEW, "usable_password": "true"}
    return root.send(f"/guarded/auth/user/{user.pk}/password/", **form)


named = pytest.mark.skipif(not has("username"), reason="the page of its users is no UserAdmin")
PLACES = pytest.mark.parametrize(
    "place",
    [change, edit_in_list, pytest.param(add, marks=named), pytest.param(set_password, marks=named)],
)


def rows():
    return sorted(User.objects.values_list("pk", "is_staff", "password"))


@PLACES
@pytest.mark.parametrize("kind", ERRORS)
def test_refused_user_is_a_message_and_nothing_is_stored(root, bob, only, monkeypatch, place, kind):
    only(bob)
    error, text = ERRORS[kind]

    def refused(user, *args, **options):
        raise error

    monkeypatch.setattr(User, "save", refused)
    before = rows()

    answer = place(root, bob)

    assert answer.status_code == 200
    assert answer.redirect_chain
    [message] = [str(message) for message in answer.context["messages"]]
    assert text in message
    assert rows() == before


@PLACES
@pytest.mark.parametrize("error", triggers.errors()[:2])
def test_user_whom_a_trigger_refuses_is_a_message(root, bob, only, place, error):
    only(bob)
    before = rows()
    triggers.refuse(User, error=error)

    answer = place(root, bob)

    assert answer.status_code == 200
    assert len(list(answer.context["messages"])) == 1
    assert rows() == before


def test_error_of_a_page_that_saves_nothing_is_not_shown_again(root, bob, monkeypatch):
    """Its own address again would only fail again, without an end."""

    def fails(*args):
        raise DataError("a column of the list")

    monkeypatch.setattr(ModelAdmin, "get_queryset", fails)

    with pytest.raises(DataError):
        root.ask(guarded_page("changelist"))
