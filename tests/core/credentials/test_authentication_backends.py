"""The service calls the host's authentication backends as Django does."""

import pytest

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

    assert backends.calls == [{ann.USERNAME_FIELD: ann.get_username(), "password": "wrong"}]


def test_backend_receives_an_unknown_name_as_typed(api, install, ann):
    install("MasterPassword")
    log_in(api, "wrong", email="nobody@example.com")

    (credentials,) = backends.calls
    assert credentials[ann.USERNAME_FIELD] == "nobody@example.com"


def test_backend_that_raises_permission_denied_is_the_last_one_called(api, install):
    install("RefusingBackend", "Django")

    assert log_in(api, PASSWORD).error == WRONG


def test_refusal_by_a_backend_makes_one_hash(api, install):
    install("RefusingBackend", "Django")

    with hashing.spied() as spy:
        log_in(api, PASSWORD)

    assert len(spy.made) == 1


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
