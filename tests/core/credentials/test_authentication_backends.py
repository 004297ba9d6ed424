"""The host's own authentication backends are asked as Django would ask them."""

import pytest

from tests import hashing
from tests.client import PASSWORD
from tests.people import make_user, the_user
from tests.plugs import backends

pytestmark = pytest.mark.django_db

DJANGO = "django.contrib.auth.backends.ModelBackend"
WRONG = (401, "INVALID_CREDENTIALS")


@pytest.fixture
def ask(settings):
    """Put these backends of the tests beside Django's, in this order."""
    backends.asked.clear()

    def ask(*names):
        settings.AUTHENTICATION_BACKENDS = [
            DJANGO if name == "Django" else f"tests.plugs.backends.{name}" for name in names
        ]

    return ask


@pytest.fixture(autouse=True)
def ann():
    return make_user()


def log_in(api, password, email="ann@example.com"):
    return api.post("login", email=email, password=password)


@pytest.mark.parametrize("order", [("Django", "MasterPassword"), ("MasterPassword", "Django")])
@pytest.mark.parametrize("password", [PASSWORD, "master plum tart"])
def test_whichever_accepts_lets_in(api, ask, order, password):
    ask(*order)

    assert log_in(api, password).status == 200


def test_where_none_accepts_the_credentials_are_invalid(api, ask):
    ask("Django", "MasterPassword")

    assert log_in(api, "wrong plum tart").error == WRONG


def test_a_backend_is_asked_by_the_hosts_natural_key(api, ask, ann):
    ask("MasterPassword")
    log_in(api, "wrong")

    assert backends.asked == [{ann.USERNAME_FIELD: ann.get_username(), "password": "wrong"}]


def test_a_backend_is_asked_for_unknown_people_as_they_were_typed(api, ask, ann):
    ask("MasterPassword")
    log_in(api, "wrong", email="nobody@example.com")

    (credentials,) = backends.asked
    assert credentials[ann.USERNAME_FIELD] == "nobody@example.com"


def test_a_backend_that_refuses_is_the_last_one_asked(api, ask):
    ask("Doorkeeper", "Django")

    assert log_in(api, PASSWORD).error == WRONG


def test_a_refusal_costs_one_hash_as_any_other(api, ask):
    ask("Doorkeeper", "Django")

    with hashing.spied() as spy:
        log_in(api, PASSWORD)

    assert len(spy.made) == 1


def test_a_backend_for_other_credentials_is_passed_over(api, ask):
    ask("ByCard", "Django")

    assert log_in(api, PASSWORD).status == 200


def test_an_inactive_user_whom_a_backend_accepts_may_not_come_in(api, ask, ann):
    ask("MasterPassword")
    type(ann).objects.update(is_active=False)

    assert log_in(api, "master plum tart").error == (403, "USER_NOT_ACTIVE")


def test_password_change_is_refused_where_a_backend_finds_another_user(api, ask):
    token = api.log_in()["access_token"]
    make_user("ben@example.com")
    ask("Mistaken")

    answer = api.request(
        "PUT",
        "change-password",
        {"old_password": "wrong plum tart", "new_password": "another plum tart 42"},
        token=token,
    )

    assert answer.error == WRONG
    assert the_user().check_password(PASSWORD)
