"""The tests that the page shows pass."""

import pytest
from django.http import JsonResponse
from django.urls import include, path

from authservice.decorators import login_required
from tests.support.documented import Page
from tests.support.mounted import mounted

pytestmark = pytest.mark.django_db


@login_required
def orders(request):
    return JsonResponse({"data": []})


urlpatterns = [path("auth/", include("authservice.urls")), path("orders", orders)]


@pytest.fixture
def shown():
    names = {}
    for code in Page("testing").code("python"):
        exec(code, names)
    return names


def test_documented_test_of_the_client_passes(shown):
    shown["test_an_invoice_is_the_signed_in_users"](None)


def test_documented_test_of_a_view_passes(shown, client, settings):
    settings.ROOT_URLCONF = __name__

    shown["test_orders_are_for_the_signed_in_user"](None, client)


def test_documented_test_of_staff_passes(shown, configure):
    configure(TWOFACTOR={"REQUIRED": "super_admins"})

    with mounted("authservice.admin"):
        shown["test_users_are_listed_for_super_admins"](None)


def test_documented_test_of_a_mail_passes(shown, django_capture_on_commit_callbacks):
    shown["test_a_mailed_link_sets_a_new_password"](None, django_capture_on_commit_callbacks)


@pytest.fixture
def _pages(settings):
    settings.MIDDLEWARE = [
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "authservice.middleware.AuthserviceMiddleware",
    ]
    settings.SESSION_ENGINE = "django.contrib.sessions.backends.signed_cookies"
    with mounted("authservice.pages"):
        yield


@pytest.mark.usefixtures("_pages")
def test_documented_test_of_a_page_passes(shown, client):
    shown["test_page_signs_a_user_in"](None, client)


@pytest.mark.usefixtures("_pages")
def test_documented_test_of_an_error_on_a_page_passes(shown, client):
    shown["test_page_shows_the_error_of_a_form"](None, client)


@pytest.mark.usefixtures("_pages")
def test_form_as_multipart_or_without_accept_html_gets_415(shown, client):
    """As the page says."""
    html, form = shown["FORM"]["headers"], shown["FORM"]["content_type"]

    assert client.post("/auth/login", {"identifier": "ann"}, headers=html).status_code == 415
    assert client.post("/auth/login", "identifier=ann", content_type=form).status_code == 415
