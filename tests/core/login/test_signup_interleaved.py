"""Identifiers taken between the check and the insert: the database decides, without a crash."""

import pytest
from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError

from authservice.core.models import Account
from authservice.core.users import creation as rules
from tests.support.client import PASSWORD
from tests.support.people import has, make_user, unsaved, users

pytestmark = pytest.mark.django_db


@pytest.fixture
def meanwhile(monkeypatch):
    """Run an action once, after the keys were checked and before anything is inserted."""

    def meanwhile(action):
        register, actions = rules._store, [action]

        def registered(*args):
            while actions:
                actions.pop()()
            return register(*args)

        monkeypatch.setattr(rules, "_store", registered)

    return meanwhile


def sign_up(robust, **more):
    return robust.post("signup", **{"email": "ann@example.com", "password": PASSWORD, **more})


@pytest.mark.parametrize("email", ["ann@example.com", "ANN@example.com"])
def test_signup_with_an_address_taken_meanwhile_is_refused(robust, meanwhile, email):
    meanwhile(lambda: robust.sign_up(email, username="other"))

    assert sign_up(robust).error == (400, "USER_ALREADY_EXISTS")
    assert (users(), Account.objects.count()) == (1, 1)


def test_signup_with_a_username_taken_meanwhile_is_refused(robust, meanwhile):
    meanwhile(lambda: robust.sign_up("ben@example.com", username="ANN"))

    assert sign_up(robust, username="ann").error == (400, "USERNAME_ALREADY_EXISTS")
    assert users() == 1


def test_signup_with_a_number_that_another_account_enters_meanwhile_keeps_it(robust, meanwhile):
    meanwhile(lambda: robust.sign_up("ben@example.com", phone_number="+4930123456"))

    assert sign_up(robust, phone_number="+4930123456").status == 201
    # Neither has verified it, so it is nobody's yet.
    assert Account.objects.filter(phone_number="+4930123456").count() == users() == 2


def test_generated_username_taken_meanwhile_is_generated_again(robust, meanwhile):
    meanwhile(lambda: robust.sign_up("ann@example.org"))

    username = sign_up(robust).data["user"]["username"]

    assert username.startswith("ann-") == has("username")


def test_signup_with_an_address_the_host_assigned_meanwhile_is_refused(robust, meanwhile):
    meanwhile(lambda: make_user("ann@example.com", username="other"))

    assert sign_up(robust).error == (400, "USER_ALREADY_EXISTS")


@pytest.mark.skipif(not has("username"), reason="its users have no username")
def test_generated_username_avoids_one_the_host_assigned_in_bulk(robust):
    get_user_model().objects.bulk_create([unsaved("ben@example.com", username="ann")])

    assert sign_up(robust).data["user"]["username"].startswith("ann-")


@pytest.mark.skipif(not has("username"), reason="its users have no username")
def test_signup_with_a_username_the_host_assigned_in_bulk_is_refused(robust):
    get_user_model().objects.bulk_create([unsaved("ben@example.com", username="ann")])

    assert sign_up(robust, username="ann").error == (400, "USERNAME_ALREADY_EXISTS")


@pytest.mark.skipif(not has("username"), reason="its users have no username")
def test_signup_with_a_username_the_host_gave_to_a_known_user_is_refused(robust):
    """Nobody has looked this user up since, so the account still has the former name."""
    robust.sign_up("ben@example.com", username="ben")
    get_user_model().objects.update(username="ann")

    assert sign_up(robust, username="ann").error == (400, "USERNAME_ALREADY_EXISTS")
    assert users() == 1


@pytest.mark.parametrize("code", ["unique", "unique_together"])
def test_generated_username_the_model_refuses_as_taken_is_generated_again(
    robust, monkeypatch, code
):
    """A project may validate each row in `save`."""
    model = get_user_model()
    refusals, save = [ValidationError("Taken.", code=code)], model.save

    def save_strictly(user, *args, **options):
        while refusals:
            raise refusals.pop()
        save(user, *args, **options)

    monkeypatch.setattr(model, "save", save_strictly)

    assert sign_up(robust).status == 201
