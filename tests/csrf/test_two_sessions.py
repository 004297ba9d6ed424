"""A browser with Django's session beside token cookies: a logout ends both, and a login as somebody
else leaves nobody behind."""

import pytest
from django.contrib.auth import SESSION_KEY

from authservice.core.models import Session
from tests.csrf.visitor import Visitor
from tests.support.client import PASSWORD
from tests.support.people import make_user, the_user

pytestmark = pytest.mark.django_db

ANN, BOB = "ann@example.com", "bob@example.com"
DJANGO = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
]
OURS = "authservice.middleware.AuthserviceMiddleware"


@pytest.fixture
def visitor(settings, configure):
    settings.ROOT_URLCONF = "tests.csrf.form_urls"
    settings.SESSION_ENGINE = "django.contrib.sessions.backends.cache"
    own = [name for name in settings.MIDDLEWARE if name not in DJANGO]
    settings.MIDDLEWARE = [*DJANGO, *own, OURS]
    configure(COOKIES={"ENABLED": True})
    visitor = Visitor()
    visitor.fetch_token()
    visitor.sign_up(ANN)
    visitor.fetch_token()
    return visitor


def shown(visitor):
    """Whom a page of the project shows."""
    return visitor.client.get("/plain-form").content.decode()


def log_in(visitor, email):
    visitor.fetch_token()
    answer = visitor.post("login", {"email": email, "password": PASSWORD})
    assert answer.status == 200
    visitor.fetch_token()


def test_logout_of_django_ends_the_session_of_the_cookies(visitor):
    assert shown(visitor) == ANN

    visitor.client.post("/leave")

    assert shown(visitor) == ""
    assert visitor.get("me").status == 401
    assert not Session.objects.filter(ended_at=None).exists()


def test_logout_of_django_ends_both(visitor):
    visitor.client.force_login(the_user(ANN))

    visitor.client.post("/leave")

    assert shown(visitor) == ""
    assert not Session.objects.filter(ended_at=None).exists()


def test_logout_of_the_api_ends_both(visitor):
    visitor.client.force_login(the_user(ANN))

    assert visitor.post("logout").status == 200

    assert shown(visitor) == ""
    assert SESSION_KEY not in visitor.client.session


def test_login_as_somebody_else_ends_the_session_of_django(visitor):
    make_user(BOB)
    visitor.client.force_login(the_user(ANN))

    log_in(visitor, BOB)

    assert shown(visitor) == BOB


def test_login_of_django_as_somebody_else_ends_the_session_of_the_cookies(
    visitor, django_capture_on_commit_callbacks
):
    make_user(BOB)

    with django_capture_on_commit_callbacks(execute=True):
        visitor.client.post("/enter", {"email": BOB})

    assert shown(visitor) == BOB
    assert visitor.get("me").status == 401
    assert not Session.objects.filter(user=the_user(ANN), ended_at=None).exists()


def test_login_of_django_as_the_same_user_keeps_the_session_of_the_cookies(
    visitor, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        visitor.client.post("/enter", {"email": ANN})

    assert shown(visitor) == ANN
    assert visitor.get("me").status == 200


def test_login_as_the_same_user_keeps_the_session_of_django(visitor):
    visitor.client.force_login(the_user(ANN))

    log_in(visitor, ANN)

    assert visitor.client.session[SESSION_KEY] == str(the_user(ANN).pk)


def test_logout_of_the_api_keeps_the_session_of_another_user(visitor):
    """Such as a member of staff who tries an account of a customer."""
    visitor.client.force_login(make_user(BOB))

    assert visitor.post("logout").status == 200

    assert shown(visitor) == BOB


def test_logout_by_bearer_token_ends_its_own_session_of_this_service(visitor, api):
    visitor.client.force_login(the_user(ANN))
    visitor.client.cookies.pop("authservice_access")
    token = api.log_in(ANN)["access_token"]

    assert visitor.post("logout", bearer=token).status == 200

    assert Session.objects.filter(ended_at=None).count() == 1


def test_without_token_cookies_both_logins_are_apart(visitor, configure):
    configure(COOKIES={"ENABLED": False})
    make_user(BOB)
    visitor.client.force_login(the_user(ANN))

    log_in(visitor, BOB)

    assert shown(visitor) == ANN
