"""Forms with Django's own CSRF token, in views that know the user by a token cookie."""

import pytest
from django.test import Client

from tests.csrf.visitor import Visitor

pytestmark = pytest.mark.django_db

EMAIL = "ann@example.com"
REFUSED = (403, "INVALID_CSRF")
OURS = "authservice.middleware.AuthserviceMiddleware"
GUARD = "authservice.csrf.middleware.CsrfMiddleware"
DJANGO = "django.middleware.csrf.CsrfViewMiddleware"
VIEWS = ["/page", "/mine", "/plain-form"]


@pytest.fixture(params=[False, True], ids=["decorators", "with the middleware"])
def site(settings, configure, request):
    """Its own views, with or without the guard of this module for all of them."""
    settings.ROOT_URLCONF = "tests.csrf.form_urls"
    others = [name for name in settings.MIDDLEWARE if name != DJANGO]
    settings.MIDDLEWARE = [*others, DJANGO, OURS, *([GUARD] if request.param else [])]
    configure(COOKIES={"ENABLED": True})


@pytest.fixture
def visitor(site):
    """Logged in by cookies, with the cookie of Django's CSRF token; Django checks it, which the
    test client does not do by itself."""
    visitor = Visitor()
    visitor.client = Client(enforce_csrf_checks=True)
    visitor.fetch_token()
    visitor.sign_up(EMAIL)
    visitor.token = ""
    visitor.form = visitor.client.get("/form").content.decode()
    return visitor


def post(visitor, path, form=None, **headers):
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    body = {"text": "hi"} if form is None else {"text": "hi", "csrfmiddlewaretoken": form}
    return visitor.client.post(path, body, headers=sent)


@pytest.mark.parametrize("path", VIEWS)
def test_form_with_the_token_of_django_names_the_user(visitor, path):
    answer = post(visitor, path, visitor.form)

    assert (answer.status_code, answer.content.decode()) == (200, EMAIL)


@pytest.mark.parametrize("path", VIEWS)
def test_header_with_the_token_of_django_names_the_user(visitor, path):
    answer = visitor.client.post(
        path, "{}", content_type="application/json", headers={"X-CSRFToken": visitor.form}
    )

    assert (answer.status_code, answer.content.decode()) == (200, EMAIL)


@pytest.mark.parametrize("path", ["/page", "/mine"])
@pytest.mark.parametrize(
    ("form", "headers"),
    [
        (None, {}),
        ("A" * 64, {}),
        ("", {}),
        ("right", {"Origin": "https://evil.example"}),
        ("right", {"Origin": "http://evil.testserver"}),
        ("right", {"Origin": "null"}),
        (None, {"X_CSRFToken": "A" * 64}),
    ],
)
def test_form_without_it_or_from_another_origin_is_refused(visitor, path, form, headers):
    token = visitor.form if form == "right" else form

    assert post(visitor, path, token, **headers).status_code == 403


@pytest.mark.parametrize(
    ("form", "headers"), [(None, {}), ("A" * 64, {}), ("right", {"Origin": "https://evil.example"})]
)
def test_view_that_django_does_not_check_is_refused_by_our_code(visitor, form, headers):
    token = visitor.form if form == "right" else form
    answer = post(visitor, "/exempt-from-django", token, **headers)

    assert (answer.status_code, answer.json()["data"]["code"]) == REFUSED


def test_view_that_django_does_not_check_accepts_its_token(visitor):
    assert post(visitor, "/exempt-from-django", visitor.form).content.decode() == EMAIL


def test_form_without_the_cookie_of_django_is_refused(visitor):
    del visitor.client.cookies["csrftoken"]

    assert post(visitor, "/mine", visitor.form).status_code == 403


def test_routes_of_the_service_do_not_accept_it(visitor):
    answer = visitor.client.post(
        "/auth/logout", "{}", content_type="application/json", headers={"X-CSRFToken": visitor.form}
    )

    assert (answer.status_code, answer.json()["data"]["code"]) == REFUSED


def test_test_client_that_checks_nothing_is_still_refused(visitor):
    visitor.client.handler.enforce_csrf_checks = False

    assert post(visitor, "/mine", visitor.form).json()["data"]["code"] == "INVALID_CSRF"


def test_login_form_of_django_works_beside_the_guard(visitor):
    answer = post(visitor, "/accounts/login/", visitor.form)

    assert answer.status_code == 200
    assert "required" in answer.content.decode()
