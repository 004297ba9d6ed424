"""What is taken between the look and the insert: the database settles it, and nobody crashes."""

import pytest
from django.contrib.auth import get_user_model

from authservice.core.models import Account
from authservice.core.users import creation as rules
from tests.client import PASSWORD
from tests.people import has, make_user, unsaved, users

pytestmark = pytest.mark.django_db


@pytest.fixture
def meanwhile(monkeypatch):
    """Do something once, after the keys were looked at and before anything is inserted."""

    def meanwhile(deed):
        register, deeds = rules._store, [deed]

        def registered(*args):
            while deeds:
                deeds.pop()()
            return register(*args)

        monkeypatch.setattr(rules, "_store", registered)

    return meanwhile


def sign_up(robust, **more):
    return robust.post("signup", **{"email": "ann@example.com", "password": PASSWORD, **more})


@pytest.mark.parametrize("email", ["ann@example.com", "ANN@example.com"])
def test_an_address_taken_meanwhile_is_taken(robust, meanwhile, email):
    meanwhile(lambda: robust.sign_up(email, username="other"))

    assert sign_up(robust).error == (400, "USER_ALREADY_EXISTS")
    assert (users(), Account.objects.count()) == (1, 1)


def test_a_username_taken_meanwhile_is_taken(robust, meanwhile):
    meanwhile(lambda: robust.sign_up("ben@example.com", username="ANN"))

    assert sign_up(robust, username="ann").error == (400, "USERNAME_ALREADY_EXISTS")
    assert users() == 1


def test_a_number_taken_meanwhile_is_taken(robust, meanwhile):
    meanwhile(lambda: robust.sign_up("ben@example.com", phone_number="+4930123456"))

    answer = sign_up(robust, phone_number="+4930123456")

    assert answer.error == (400, "PHONE_ALREADY_IN_USE")
    assert users() == 1


def test_a_made_username_taken_meanwhile_is_made_anew(robust, meanwhile):
    meanwhile(lambda: robust.sign_up("ann@example.org"))

    username = sign_up(robust).data["user"]["username"]

    assert username.startswith("ann-") == has("username")


def test_an_address_the_host_gave_meanwhile_is_taken(robust, meanwhile):
    meanwhile(lambda: make_user("ann@example.com", username="other"))

    assert sign_up(robust).error == (400, "USER_ALREADY_EXISTS")


def test_a_name_the_host_gave_in_bulk_is_not_given_again(robust):
    if has("username"):
        get_user_model().objects.bulk_create([unsaved("ben@example.com", username="ann")])

        assert sign_up(robust).data["user"]["username"].startswith("ann-")


def test_a_name_the_host_gave_in_bulk_is_taken(robust):
    if has("username"):
        get_user_model().objects.bulk_create([unsaved("ben@example.com", username="ann")])

        assert sign_up(robust, username="ann").error == (400, "USERNAME_ALREADY_EXISTS")
