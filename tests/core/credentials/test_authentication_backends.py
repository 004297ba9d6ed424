"""The service calls the host's authentication backends as Django does."""

import pytest

from authservice.core.models import AttemptCounter
from tests.support import hashing
from tests.support.client import PASSWORD
from tests.support.modules import backends
from tests.support.people import make_user, the_user

pytestmark = pytest.mark.django_db

DJANGO = "django.contrib.auth.backends.ModelBackend"
WRONG = (401, "INVALID_CREDENTIALS")


@pytest.fixture
def install(settings):
    """Install these backends of the tests, or Django's own, in this order."""
    backends.calls.clear()

    def install(*names):
        settings.AUTHENTICATION_BACKENDS = [
            DJANGO if name == "Django" else f"tests.support.modules.backends.{name}"
            for name in names
        ]

    return install


@pytest.fixture(autouse=True)
def ann():
    return make_user()


def log_in(api, password, email="ann@example.com"):
    return api.post("login", email=email, password=password)


@pytest.mark.parametrize("order", [("Django", "MasterPassword"), ("MasterPassword", "Django")])
@pytest.mark.parametrize("password", [PASSWORD, "master plum tart"])
def test_login_succeeds_if_any_backend_accepts_the_password(api, install, order, password):
    install(*order)

    assert log_in(api, password).status == 200


def test_login_is_refused_if_no_backend_accepts_the_password(api, install):
    install("Django", "MasterPassword")

    assert log_in(api, "wrong plum tart").error == WRONG


def test_backend_receives_the_hosts_natural_key(api, install, ann):
    install("MasterPassword")
    log_in(api, "wrong")

    assert backends.calls[0] == {ann.USERNAME_FIELD: ann.get_username(), "password": "wrong"}


def test_backend_receives_an_unknown_name_as_typed(api, install, ann):
    install("MasterPassword")
    log_in(api, "wrong", email="nobody@example.com")

    assert backends.calls[0][ann.USERNAME_FIELD] == "nobody@example.com"


@pytest.mark.parametrize("email", ["ann@example.com", "nobody@example.com"])
def test_backend_receives_the_address_as_username_and_as_address(api, install, ann, email):
    install("MasterPassword")
    log_in(api, "wrong", email=email)

    asked = [{**call, "password": ""} for call in backends.calls]
    assert asked[1] == {"username": email, "password": ""}
    assert {"email": email, "password": ""} in asked
    assert len(asked) == (2 if ann.USERNAME_FIELD == "email" else 3)  # unknown ones take as long


@pytest.mark.parametrize("name", ["ann", "nobody"])
def test_backend_receives_a_username_once_as_natural_key(api, install, ann, name):
    if ann.USERNAME_FIELD != "username":
        return  # the users of this host log in with their address
    install("MasterPassword")
    api.post("login", username=name, password="wrong")

    assert backends.calls == [{"username": name, "password": "wrong"}]


@pytest.mark.parametrize("backend", ["EmailBackend", "OnlyEmail", "EmailOrUsername"])
def test_recipe_that_looks_up_addresses_lets_everybody_in(api, install, backend):
    install(backend)
    token = api.log_in()["access_token"]

    assert log_in(api, "wrong plum tart").error == WRONG
    assert log_in(api, PASSWORD, email="nobody@example.com").error == WRONG
    body = {"old_password": PASSWORD, "new_password": "another plum tart 42"}
    assert api.request("PUT", "change-password", body, token=token).status == 200


def test_recipes_let_an_address_in_that_is_spelled_differently(api, install):
    install("EmailBackend")

    assert log_in(api, PASSWORD, email="ANN@example.com").status == 200


def test_backend_that_cannot_use_other_credentials_refuses(api, install):
    install("Upgrading")

    assert log_in(api, "wrong plum tart").error == WRONG
    assert log_in(api, PASSWORD).status == 200


@pytest.mark.parametrize("email", ["ann@example.com", "nobody@example.com"])
def test_django_makes_one_hash_beside_other_backends(api, install, email):
    install("Django", "MasterPassword")

    with hashing.spied() as spy:
        log_in(api, "wrong", email=email)

    assert len(spy.made) == 1


def test_backend_that_raises_permission_denied_is_the_last_one_called(api, install):
    install("RefusingBackend", "Django")

    assert log_in(api, PASSWORD).error == WRONG


def test_refusal_by_a_backend_makes_one_hash(api, install):
    install("RefusingBackend", "Django")

    with hashing.spied() as spy:
        log_in(api, PASSWORD)

    assert len(spy.made) == 1


def test_fault_of_a_backend_is_no_wrong_password(robust, install):
    """Users would change a right password, and nobody would see the fault."""
    install("Broken")

    assert log_in(robust, PASSWORD).status == 500


def test_backend_for_other_credentials_is_skipped(api, install):
    install("ByCard", "Django")

    assert log_in(api, PASSWORD).status == 200


def test_login_of_an_inactive_user_whom_a_backend_accepts_is_refused(api, install, ann):
    install("MasterPassword")
    type(ann).objects.update(is_active=False)

    assert log_in(api, "master plum tart").error == (403, "USER_NOT_ACTIVE")


def test_password_change_is_refused_if_a_backend_returns_another_user(api, install):
    token = api.log_in()["access_token"]
    make_user("ben@example.com")
    install("Mistaken")

    answer = api.request(
        "PUT",
        "change-password",
        {"old_password": "wrong plum tart", "new_password": "another plum tart 42"},
        token=token,
    )

    assert answer.error == WRONG
    assert the_user().check_password(PASSWORD)
    assert AttemptCounter.objects.filter(count=1).exists()  # it was not given back
